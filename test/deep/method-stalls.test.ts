import { describe, expect, it } from 'vitest'
import { SpooledJsonArtifact } from '../../src/artifacts/spooled-json-artifact.ts'
import { SpooledTableArtifact } from '../../src/artifacts/spooled-table-artifact.ts'
import { memorySpool } from '../../src/spool/memory-spool.ts'
import type { SpoolReader } from '../../src/spool/spool-reader.ts'
import { stalls } from '../stalls.ts'

const SIZE = 16 * 1024 * 1024
const ITEM = 950_000
const STALL_MS = 50

const fill = (piece: string, size = SIZE) => piece.repeat(Math.ceil(size / piece.length))
const listOf = (count: number, item: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => item(i)).join(',')
/** An array of 16 items of nearly 1 MB. */
const large = (item: (i: number) => string) => `[${listOf(16, item)}]`
const nested = '['.repeat(900) + ']'.repeat(900)

const JSON_DOCUMENTS: Record<string, () => string> = {
  'many keys': () =>
    large((k) => `{${listOf(85_000, (i) => `"${(i * 7_919 + k).toString(36)}":0`)}}`),
  numbers: () => large(() => `[${fill('0,', ITEM)}0]`),
  'empty strings': () => large(() => `{"list":[${fill('"",', ITEM)}0]}`),
  'empty objects': () => large(() => `{"list":[${fill('{},', ITEM)}0]}`),
  'deep nesting': () => large(() => `{"list":[${listOf(125, () => nested)}]}`),
  'objects of all shapes': () =>
    large(() => `{"list":[${listOf(40_000, (i) => `{"k${i}":{"a":${i}}}`)}]}`),
  escapes: () => large(() => `{"list":"${fill('\\u00e9', ITEM)}"}`),
  space: () => large(() => `{"list":[${' '.repeat(ITEM)}]}`),
}
const JSON_METHODS: Record<string, (json: SpooledJsonArtifact) => Promise<unknown>> = {
  slice: (json) => json.slice(0, 16),
  get: (json) => json.get('[3]'),
  pluck: (json) => json.pluck('list'),
  'pluck of nothing': (json) => json.pluck('list[450000].none'),
  'filter by what is there': (json) => json.filter({ field: 'list', operator: 'exists' }),
  'filter by what is not': (json) => json.filter({ field: 'none', operator: 'missing' }),
  'filter by contents': (json) =>
    json.filter({ field: 'list', operator: 'contains', value: 'nothing' }),
  keys: (json) => json.keys(),
  length: (json) => json.length('[3]').catch(() => 0),
  preview: (json) => json.preview(),
}

const TABLES: Record<string, () => string> = {
  'a million empty cells': () => fill(`${','.repeat(990_000)}\n`),
  'cells in quotes': () => fill(`${'"",'.repeat(330_000)}\n`),
  'cells of quotes': () => fill(`${'"""",'.repeat(190_000)}\n`),
  'cells of text': () => fill(`${listOf(120_000, (i) => `c${i}`)}\n`),
}
const TABLE_METHODS: Record<string, (table: SpooledTableArtifact) => Promise<unknown>> = {
  columns: (table) => table.columns(),
  rows: (table) => table.rows(0, 8),
  filter: (table) => table.filter({ column: '3', operator: 'equals', value: 'nothing' }),
  countBy: (table) => table.countBy('3'),
  rowCount: (table) => table.rowCount(),
  'a column that is not there': (table) => table.countBy('no such column').catch(() => 0),
  preview: (table) => table.preview(),
}

function hold<A>(
  Class: new (reader: SpoolReader) => A,
  documents: Record<string, () => string>,
  methods: Record<string, (artifact: A) => Promise<unknown>>,
): void {
  it.each(Object.keys(documents))(
    'keeps the event loop turning over %s',
    { timeout: 180_000 },
    async (name) => {
      const artifact = new Class(await memorySpool().write(documents[name]?.() ?? ''))
      for (const [method, call] of Object.entries(methods)) {
        // The first time, code is compiled on the way; a process that asks twice has that behind it.
        if (name === Object.keys(documents)[0]) await call(artifact)
        // What is asked for is held, and the collector moves it about; that is nobody's but the caller's.
        const once = async () => (await stalls(() => call(artifact))).ownStall
        const first = await once()
        // A stall of our own comes again; one of a busy machine does not.
        const stall = first < STALL_MS ? first : Math.min(first, await once())
        expect({ method, stall: stall < STALL_MS || stall }).toEqual({ method, stall: true })
      }
    },
  )
}

describe('a method of a JSON artifact with items of 1 MB', () => {
  hold(SpooledJsonArtifact, JSON_DOCUMENTS, JSON_METHODS)
})

describe('a method of a table with rows of 1 MB', () => {
  hold(SpooledTableArtifact, TABLES, TABLE_METHODS)
})

describe('eight methods at once', () => {
  it('keep the event loop turning together', async () => {
    const text = `[${listOf(300_000, (id) => `{"id":${id},"name":"user ${id}"}`)}]`
    const json = new SpooledJsonArtifact(await memorySpool().write(text))
    const ask = () => Promise.all(Array.from({ length: 8 }, () => json.length()))
    await ask()
    const { result, stall } = await stalls(ask)
    expect(result).toEqual(Array(8).fill(300_000))
    expect(stall < STALL_MS || stall).toBe(true)
  })
})
