import type { EntryFilter } from '../../store/store.ts'
import type { SqliteValue } from './sqlite-database.ts'

/** Which column each part of a filter looks at, and how. */
const CONDITIONS: { readonly [K in Exclude<keyof EntryFilter, 'conversation'>]: string } = {
  turnId: 'e.turn = ?',
  kind: 'e.kind = ?',
  id: 'e.id = ?',
  checksum: 'e.checksum = ?',
  tool: 'e.tool = ?',
  settlement: 'e.settlement = ?',
  since: 'e.time >= ?',
  until: 'e.time < ?',
}

export interface SqlFilter {
  readonly where: string
  readonly values: readonly SqliteValue[]
  /** What entries are ordered and paged by: within one conversation its own order, which has an index. */
  readonly order: 'e.seq' | 'e.position'
}

/** A filter as SQL; values never become part of the text. */
export function sqlFilter(filter: EntryFilter): SqlFilter {
  const parts: string[] = []
  const values: SqliteValue[] = []
  const inOne = filter.conversation !== undefined
  if (filter.conversation !== undefined) {
    parts.push('e.conversation = (SELECT ref FROM bobbin_conversations WHERE id = ?)')
    values.push(filter.conversation)
  }
  for (const [name, condition] of Object.entries(CONDITIONS)) {
    const value = filter[name as keyof typeof CONDITIONS]
    if (value === undefined) continue
    parts.push(condition)
    values.push(value)
  }
  // Lets the partial index answer: the planner cannot know what a parameter will be.
  if (filter.settlement !== undefined && filter.settlement !== 'ok') {
    parts.push("e.settlement IS NOT NULL AND e.settlement <> 'ok'")
  }
  const where = parts.length === 0 ? '1' : parts.join(' AND ')
  return { where, values, order: inOne ? 'e.seq' : 'e.position' }
}
