import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Entry } from '../src/store/entry.ts'
import { type BundledProcess, bundledProcess } from './crash/bundled-process.ts'
import type { RivalTask } from './crash/rival-process.ts'
import { type StorePlace, storeAt } from './crash/store-at.ts'
import { type EmbeddedServer, embeddedServer } from './postgres/embedded-server.ts'

let program: BundledProcess
let server: EmbeddedServer
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-rivals-'))
  program = await bundledProcess('rival-process')
  server = await embeddedServer()
}, 60_000)
afterAll(async () => {
  program.remove()
  await server.remove()
  rmSync(folder, { recursive: true })
}, 30_000)

/** The stores that several processes can share, each with a place of its own by name. */
const PLACES: Readonly<Record<string, (name: string) => StorePlace>> = {
  SQLite: (name) => ({ path: join(folder, `${name}.db`) }),
  PostgreSQL: (name) => ({ url: server.url, schema: name, spool: join(folder, `${name}.spool`) }),
}

async function entriesOf(place: StorePlace): Promise<Entry[]> {
  const store = storeAt(place)
  const entries: Entry[] = []
  for await (const entry of store.entries('c')) entries.push(entry)
  await store.close()
  return entries
}

async function faultsOf(place: StorePlace) {
  const store = storeAt(place)
  const { faults } = await store.verify({ conversation: 'c' })
  await store.close()
  return faults
}

const isSorted = (numbers: readonly number[]) =>
  numbers.every((number, index) => number >= (numbers[index - 1] ?? 0))

describe.each(Object.entries(PLACES))('two runners in two processes, %s', (kind, placeOf) => {
  it('fences the one from which it was taken, whatever it still does', {
    timeout: 60_000,
  }, async () => {
    const place = placeOf('taken')
    const shared = { place, flag: join(folder, `${kind}, go on`) }
    const holder = program.start({ ...shared, name: 'holder', act: 'hold' } satisfies RivalTask)
    const isHeld = async () => (await entriesOf(place)).some((entry) => entry.kind === 'intent')
    for (let i = 0; i < 500 && !(await isHeld()); i++) await sleep(20)
    const taker = await program.start({ ...shared, name: 'taker', act: 'take' } satisfies RivalTask)
    expect(taker.lines).toMatchObject([{ status: 'completed', text: 'taker is done' }])
    const before = await entriesOf(place)
    writeFileSync(shared.flag, '')
    const { lines } = await holder
    expect(lines).toMatchObject([{ status: 'failed', reason: { code: 'STORE_FAILED' } }])
    expect(await entriesOf(place)).toEqual(before)
    expect(isSorted(before.map(({ epoch }) => epoch))).toBe(true)
    expect(await faultsOf(place)).toEqual([])
  })

  it('never lets their entries interleave, however often they take it', {
    timeout: 60_000,
  }, async () => {
    const place = placeOf('storm')
    const shared = { place, flag: '', act: 'storm' } as const
    const ends = await Promise.all(
      ['ann', 'bob'].map((name) => program.start({ ...shared, name } satisfies RivalTask)),
    )
    const rounds = ends.flatMap(({ lines, errors }) => [
      ...lines.map(({ status }) => status),
      errors,
    ])
    expect(rounds.filter((status) => status === 'completed').length).toBeGreaterThan(0)
    expect(rounds.filter((round) => !['completed', 'failed', ''].includes(String(round)))).toEqual(
      [],
    )
    const entries = await entriesOf(place)
    expect(isSorted(entries.map(({ epoch }) => epoch))).toBe(true)
    expect(await faultsOf(place)).toEqual([])
    const turnOfEpoch = new Map(entries.map(({ epoch, turnId }) => [epoch, turnId]))
    expect(entries.every(({ epoch, turnId }) => turnOfEpoch.get(epoch) === turnId)).toBe(true)
  })
})
