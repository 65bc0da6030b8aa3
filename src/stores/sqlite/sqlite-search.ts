import type { EntryRange } from '../../store/rows/store-driver.ts'
import type { FoundText } from '../../store/rows/store-rows.ts'
import type { EntryFilter } from '../../store/store.ts'
import { pageAfter, type SqlFilter, sqlFilter } from '../sql/sql-filter.ts'
import type { Sqlite, SqliteRow, SqliteValue } from './sqlite-database.ts'
import { asBytes, foundText } from './sqlite-rows.ts'

/** How many of the newest entries are outside of the search indexes at most; a search looks at each of them. */
export const MAX_UNINDEXED = 512

const DIALECT = { conversations: 'bobbin_conversations', parameter: () => '?' } as const

/** Entries that fit a filter. */
export function findEntries(sqlite: Sqlite, filter: EntryFilter, range: EntryRange): FoundText[] {
  const { after, limit, descending } = range
  const asked = sqlFilter(filter, DIALECT)
  const { order, values } = asked
  const parts = searchedParts(sqlite, asked)
  const found: FoundText[] = []
  for (const { from, where, bounds, page } of descending ? parts.toReversed() : parts) {
    const sql = `SELECT e.seq, ${asBytes('digest, seal, body', 'e.')}, CAST(c.id AS BLOB) AS conversation, ${order} AS position
      FROM ${from} JOIN bobbin_conversations c ON c.ref = e.conversation
      WHERE ${where} AND ${pageAfter(page, descending, '?')} LIMIT ?`
    const rest = limit - found.length
    const rows = rest === 0 ? [] : sqlite.all(sql, [...values, ...bounds, after, rest])
    found.push(...(rows as readonly SqliteRow[]).map(foundText))
  }
  return found
}

/** How many entries fit a filter. */
export function countEntries(sqlite: Sqlite, filter: EntryFilter): number {
  const asked = sqlFilter(filter, DIALECT)
  let count = 0
  for (const { from, where, bounds } of searchedParts(sqlite, asked)) {
    const sql = `SELECT count(*) AS n FROM ${from} WHERE ${where}`
    count += Number(sqlite.get(sql, [...asked.values, ...bounds])?.['n'])
  }
  return count
}

interface SearchedPart {
  readonly from: string
  readonly where: string
  readonly bounds: readonly SqliteValue[]
  /** What a page begins after. */
  readonly page: string
}

/**
 * The parts of the log to search, in order: what the indexes have, and the newest entries, one by one. The border is
 * read once, so that an entry that moves into the indexes in between is found once.
 */
function searchedParts(
  sqlite: Sqlite,
  { where, order, isSearch }: SqlFilter,
): readonly SearchedPart[] {
  const from = 'bobbin_entries e'
  if (!isSearch) return [{ from, where, bounds: [], page: order }]
  const row = sqlite.get('SELECT indexed FROM bobbin_positions')
  const bounds = [Number(row?.['indexed'])]
  // With `+`, SQLite compares the column and does not use its index.
  const indexed = `${where} AND e.indexed = 1 AND +e.position <= ?`
  const newest = `${where} AND e.position > ?`
  return [
    { from, where: indexed, bounds, page: order },
    { from: `${from} NOT INDEXED`, where: newest, bounds, page: `+${order}` },
  ]
}

/**
 * Brings the search indexes from one position to another once enough entries wait: in one commit of many, because each
 * index has a page of its own for every entry. What keeps a log safe is never behind. Says whether it did.
 */
export function indexEntries(sqlite: Sqlite, from: number, to: number): boolean {
  if (to - from < MAX_UNINDEXED) return false
  sqlite.run(
    'UPDATE bobbin_entries SET indexed = 1 WHERE position > ? AND position <= ? AND indexed = 0',
    [from, to],
  )
  sqlite.run('UPDATE bobbin_positions SET indexed = ?', [to])
  return true
}
