import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../../src/core/error/error.ts'
import { memorySpool } from '../../src/spool/memory-spool.ts'
import type { SpoolStore } from '../../src/spool/spool-store.ts'
import { fileSpool } from '../../src/stores/fs/file-spool.ts'
import { faultyFileSystem } from '../disk/faulty-file-system.ts'
import { type Loss, type PowerLossDisk, powerLossDisk } from '../disk/power-loss-disk.ts'

const FOLDER = '/disk/data/agent.db.spool'
const large = 'a line of a spool that is written in one piece\n'.repeat(500)
const pieces = 'a line of a spool that spans several blocks\n'.repeat(14_000)
const small = 'here already'

interface Scenario {
  readonly name: string
  readonly before?: readonly string[]
  /** Tells of each content that was acknowledged. */
  act(store: SpoolStore, acknowledge: (text: string) => void): Promise<unknown>
}

const write = async (store: SpoolStore, text: string, acknowledge: (text: string) => void) => {
  await store.write(text)
  acknowledge(text)
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'a first write', act: (store, done) => write(store, pieces, done) },
  {
    name: 'a write beside other content',
    before: [small],
    act: (store, done) => write(store, large, done),
  },
  {
    name: 'a write of what is there',
    before: [large],
    act: (store, done) => write(store, large, done),
  },
  {
    name: 'two writes at once',
    act: (store, done) => Promise.all([write(store, large, done), write(store, small, done)]),
  },
  {
    name: 'two writes of the same at once',
    act: (store, done) => Promise.all([write(store, large, done), write(store, large, done)]),
  },
  {
    name: 'a sweep of other content',
    before: [small],
    async act(store, done) {
      await write(store, large, done)
      const { digest } = await memorySpool().write(large)
      await store.sweep(new Set([digest]), { graceMs: -60_000 })
    },
  },
]

/** Pseudo-random, and the same every time. */
function chances(seed: number): Loss {
  let state = seed * 2_654_435_761
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + seed) >>> 0
    return (['lost', 'torn', 'kept'] as const)[state % 3] ?? 'lost'
  }
}

const LOSSES: Readonly<Record<string, Loss>> = {
  'nothing that was not synced is there': () => 'lost',
  'names are there, bytes are not': (what) => (what === 'name' ? 'kept' : 'lost'),
  'names are there, bytes are torn': (what) => (what === 'name' ? 'kept' : 'torn'),
  'bytes are there, names are not': (what) => (what === 'name' ? 'lost' : 'kept'),
  'everything is there': () => 'kept',
  ...Object.fromEntries(
    Array.from({ length: 8 }, (_, seed) => [`chance ${seed}`, chances(seed + 1)]),
  ),
}

/** What is on the disk, by digest, and that each of it is whole. */
async function held(store: SpoolStore): Promise<string[]> {
  const digests: string[] = []
  for await (const digest of store.digests()) {
    await (await store.read(digest)).verify()
    digests.push(digest)
  }
  return digests
}

const digestOf = async (text: string) => (await memorySpool().write(text)).digest

/** Cuts the power at one call and gives how many calls there were and what went wrong. */
async function cutAt(
  scenario: Scenario,
  call: number,
): Promise<{ calls: number; wrong: string[] }> {
  const disk = powerLossDisk()
  await disk.fs.makeRoot('/disk/data')
  for (const path of ['/', '/disk']) await disk.fs.syncFolder(path)
  const safe: string[] = []
  for (const text of scenario.before ?? []) {
    await fileSpool(FOLDER, { fileSystem: disk.fs }).write(text)
    safe.push(text)
  }
  const { fs, calls } = faultyFileSystem(disk.fs, call, { kind: 'kill' })
  try {
    const store = fileSpool(FOLDER, { fileSystem: fs })
    await scenario.act(store, (text) => safe.push(text))
  } catch (error) {
    if (!isBobbinError(error)) throw error
  }
  const isSwept = scenario.name.includes('sweep')
  const kept = isSwept ? safe.filter((text) => text === large) : safe
  const wrong: string[] = []
  for (const [name, loss] of Object.entries(LOSSES)) {
    const problem = await problemAfter(disk.afterPowerLoss(loss), kept)
    if (problem !== undefined) wrong.push(`${scenario.name}, call ${call}, ${name}: ${problem}`)
  }
  return { calls: calls(), wrong }
}

async function problemAfter(disk: PowerLossDisk, safe: readonly string[]) {
  try {
    const store = fileSpool(FOLDER, { fileSystem: disk.fs })
    const found = await held(store)
    for (const text of safe) {
      if (!found.includes(await digestOf(text))) return 'what was acknowledged is lost'
    }
    const after = await store.write(large)
    await after.verify()
    await store.sweep(new Set([after.digest]), { graceMs: -60_000 })
    if ((await disk.fs.list(`${FOLDER}/shared/temporary`)).length > 0) return 'leftovers stay'
    // The spool that was mended must hold against the next loss as well.
    const again = fileSpool(FOLDER, { fileSystem: disk.afterPowerLoss(() => 'lost').fs })
    return (await held(again)).includes(after.digest) ? undefined : 'a later write is lost'
  } catch (error) {
    return String(error)
  }
}

describe('fileSpool, when the power goes', () => {
  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    'holds everything that was acknowledged, and nothing by halves: %s',
    async (_, scenario) => {
      const wrong: string[] = []
      let tried = 0
      for (; tried < 500; tried++) {
        const cut = await cutAt(scenario, tried)
        wrong.push(...cut.wrong)
        if (cut.calls <= tried) break
      }
      expect(wrong).toEqual([])
      expect(tried).toBeGreaterThan(10)
    },
  )
})
