import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Entry, NewEntry } from '../../store/entry.ts'
import type { EntryFilter, Store } from '../../store/store.ts'
import { MAX_UNINDEXED } from './sqlite-search.ts'
import { sqliteStore } from './sqlite-store.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-search-'))
})
afterAll(() => rm(folder, { recursive: true }))

const AT = '2026-01-02T03:04:05.000Z'
const SETTLEMENTS = ['ok', 'failed', 'ok', 'refused', 'ok'] as const

/** The settlement of call `n`: tools, checksums, turns and settlements repeat at different steps. */
function settled(n: number): NewEntry {
  const settlement = SETTLEMENTS[n % 5] as string
  const data = {
    id: `call-${n}`,
    tool: `tool-${n % 3}`,
    args: { n: n % 7 },
    checksum: `sum-${n % 7}`,
    results: 'done',
    isComplete: true,
    isError: false,
    settlement,
    createdAt: AT,
  }
  return { kind: 'settlement', turnId: `turn-${n % 11}`, data }
}

const FILTERS: readonly EntryFilter[] = [
  { turnId: 'turn-3' },
  { tool: 'tool-1' },
  { checksum: 'sum-2' },
  { settlement: 'failed' },
  { settlement: 'ok', tool: 'tool-2' },
  { conversation: 'one', turnId: 'turn-3' },
  { conversation: 'one', checksum: 'sum-2', kind: 'settlement' },
  { conversation: 'two', tool: 'tool-1', settlement: 'refused' },
  { conversation: 'one', id: 'call-4', kind: 'settlement' },
]

type Place = readonly [conversation: string, seq: number]

/** What a filter must find, from the logs themselves. */
async function expected(store: Store, order: readonly Place[], filter: EntryFilter) {
  const logs = new Map<string, Entry[]>()
  for (const conversation of ['one', 'two']) {
    const entries: Entry[] = []
    for await (const entry of store.entries(conversation)) entries.push(entry)
    logs.set(conversation, entries)
  }
  return order.filter(([conversation, seq]) => {
    const entry = logs.get(conversation)?.[seq - 1]
    if (entry === undefined) return false
    const { id, tool, checksum, settlement } = entry.data as Record<string, unknown>
    const { turnId, kind } = entry
    const has: Record<string, unknown> = { conversation, turnId, kind, id, tool, checksum }
    has['settlement'] = settlement
    return Object.entries(filter).every(([name, value]) => has[name] === value)
  })
}

/** Everything that a filter finds, in pages. */
async function found(store: Store, filter: EntryFilter, limit: number): Promise<Place[]> {
  const places: Place[] = []
  let after: string | undefined
  for (let page = 0; page < 1_000; page++) {
    const { entries, next } = await store.find({ ...filter, limit, ...(after && { after }) })
    places.push(...entries.map(({ conversation, entry }) => [conversation, entry.seq] as const))
    if (next === undefined) return places
    after = next
  }
  throw new Error('The pages do not end.')
}

async function expectSame(store: Store, order: readonly Place[]): Promise<void> {
  for (const filter of FILTERS) {
    const all = await expected(store, order, filter)
    expect({ filter, found: await found(store, filter, 7) }).toEqual({ filter, found: all })
    expect(await store.count(filter)).toBe(all.length)
  }
}

describe('a search', () => {
  it('finds the same before and after entries enter its indexes', async () => {
    const path = join(folder, 'moments.db')
    const store = sqliteStore(path)
    const reader = sqliteStore(path)
    const leases = {
      one: await store.acquire('one', { owner: 'test' }),
      two: await store.acquire('two', { owner: 'test' }),
    }
    const order: Place[] = []
    const lengths = { one: 0, two: 0 }
    let added = 0
    const add = async (name: 'one' | 'two', count: number) => {
      const entries = Array.from({ length: count }, () => settled(added++))
      await store.append(name, leases[name].epoch, entries)
      for (let i = 0; i < count; i++) order.push([name, ++lengths[name]])
    }
    await add('one', MAX_UNINDEXED - 3)
    await expectSame(store, order)
    for (const name of ['two', 'one', 'two'] as const) {
      await add(name, 1)
      await expectSame(store, order)
    }
    await add('two', 2 * MAX_UNINDEXED + 1)
    await add('one', 20)
    await expectSame(reader, order)
    for (const conversation of ['one', 'two']) {
      expect(await store.verify({ conversation })).toMatchObject({ ok: true, faults: [] })
    }

    // Deleted entries leave the indexes, and their positions are not given again.
    await store.delete('two')
    const rest = order.filter(([name]) => name === 'one')
    await expectSame(reader, rest)
    await add('one', MAX_UNINDEXED)
    await expectSame(reader, [...rest, ...order.slice(-MAX_UNINDEXED)])
    await Promise.all([store.close(), reader.close()])
  })

  it('keeps few entries outside of its indexes', async () => {
    const path = join(folder, 'border.db')
    const store = sqliteStore(path)
    const { epoch } = await store.acquire('one', { owner: 'test' })
    for (let n = 0; n < 3; n++) {
      await store.append(
        'one',
        epoch,
        Array.from({ length: 400 }, (_, i) => settled(n * 400 + i)),
      )
    }
    await store.close()
    const database = new Database(path)
    const [row] = database
      .prepare('SELECT count(*) AS n, sum(indexed) AS indexed FROM bobbin_entries')
      .all([])
    database.close()
    expect(row).toEqual({ n: 1_200, indexed: 800 })
  })

  it('finds what a file of the first version holds, and what is added to it', async () => {
    const path = join(folder, 'old.db')
    const database = new Database(path)
    database.exec(readFileSync(new URL('./fixtures/version-1.sql', import.meta.url), 'utf8'))
    database.close()
    const store = sqliteStore(path)
    const before = await store.find({ conversation: 'older' })
    const [first] = before.entries
    const { turnId = '' } = first?.entry ?? {}
    const sameTurn = before.entries.filter(({ entry }) => entry.turnId === turnId)
    expect((await store.find({ turnId, conversation: 'older' })).entries).toEqual(sameTurn)

    const { epoch } = await store.acquire('older', { owner: 'test', force: true })
    const added = {
      kind: 'note',
      turnId,
      data: { level: 'info', code: 'X', message: 'x' },
    } as const
    await store.append('older', epoch, [added])
    expect(await store.count({ turnId, conversation: 'older' })).toBe(sameTurn.length + 1)
    await store.close()
  })
})
