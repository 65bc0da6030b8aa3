import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Entry } from '../src/store/entry.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { type BundledProcess, bundledProcess } from './crash/bundled-process.ts'
import type { RivalTask } from './crash/rival-process.ts'

let program: BundledProcess
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-rivals-'))
  program = await bundledProcess('rival-process')
})
afterAll(() => {
  program.remove()
  rmSync(folder, { recursive: true })
})

async function entriesOf(database: string): Promise<Entry[]> {
  const store = sqliteStore(database)
  const entries: Entry[] = []
  for await (const entry of store.entries('c')) entries.push(entry)
  await store.close()
  return entries
}

async function faultsOf(database: string) {
  const store = sqliteStore(database)
  const { faults } = await store.verify({ conversation: 'c' })
  await store.close()
  return faults
}

const isSorted = (numbers: readonly number[]) =>
  numbers.every((number, index) => number >= (numbers[index - 1] ?? 0))

describe('two runners in two processes on one conversation', () => {
  it('fences the one from which it was taken, whatever it still does', {
    timeout: 60_000,
  }, async () => {
    const place = { database: join(folder, 'taken.db'), flag: join(folder, 'go on') }
    const holder = program.start({ ...place, name: 'holder', act: 'hold' } satisfies RivalTask)
    const isHeld = async () =>
      (await entriesOf(place.database)).some(({ kind }) => kind === 'intent')
    for (let i = 0; i < 500 && !(await isHeld()); i++) await sleep(20)
    const taker = await program.start({ ...place, name: 'taker', act: 'take' } satisfies RivalTask)
    expect(taker.lines).toMatchObject([{ status: 'completed', text: 'taker is done' }])
    const before = await entriesOf(place.database)
    writeFileSync(place.flag, '')
    const { lines } = await holder
    expect(lines).toMatchObject([{ status: 'failed', reason: { code: 'STORE_FAILED' } }])
    expect(await entriesOf(place.database)).toEqual(before)
    expect(isSorted(before.map(({ epoch }) => epoch))).toBe(true)
    expect(await faultsOf(place.database)).toEqual([])
  })

  it('never lets their entries interleave, however often they take it', {
    timeout: 60_000,
  }, async () => {
    const place = { database: join(folder, 'storm.db'), flag: '', act: 'storm' } as const
    const ends = await Promise.all(
      ['ann', 'bob'].map((name) => program.start({ ...place, name } satisfies RivalTask)),
    )
    const rounds = ends.flatMap(({ lines, errors }) => [
      ...lines.map(({ status }) => status),
      errors,
    ])
    expect(rounds.filter((status) => status === 'completed').length).toBeGreaterThan(0)
    expect(rounds.filter((round) => !['completed', 'failed', ''].includes(String(round)))).toEqual(
      [],
    )
    const entries = await entriesOf(place.database)
    expect(isSorted(entries.map(({ epoch }) => epoch))).toBe(true)
    expect(await faultsOf(place.database)).toEqual([])
    const turnOfEpoch = new Map(entries.map(({ epoch, turnId }) => [epoch, turnId]))
    expect(entries.every(({ epoch, turnId }) => turnOfEpoch.get(epoch) === turnId)).toBe(true)
  })
})
