import type { EntryFilter } from '../../store/store.ts'

/** Which column each part of a filter looks at, and how. */
const CONDITIONS: { readonly [K in Exclude<keyof EntryFilter, 'conversation'>]: string } = {
  turnId: 'e.turn =',
  kind: 'e.kind =',
  id: 'e.id =',
  checksum: 'e.checksum =',
  tool: 'e.tool =',
  settlement: 'e.settlement =',
  since: 'e.time >=',
  until: 'e.time <',
}

export interface SqlFilter {
  readonly where: string
  readonly values: readonly (string | number)[]
  /** What entries are ordered and paged by: within one conversation its own order, which has an index. */
  readonly order: 'e.seq' | 'e.position'
  /** True if it looks for what only searches need: a turn, a tool, a checksum or a settlement. */
  readonly isSearch: boolean
}

/** The end of a WHERE, and the order, for rows after a position. */
export const pageAfter = (order: string, descending: boolean, after: string): string =>
  descending
    ? `${order} < ${after} ORDER BY ${order} DESC`
    : `${order} > ${after} ORDER BY ${order}`

/** A filter as SQL over entries `e` and conversations `c`; values never become part of the text. */
export function sqlFilter(
  filter: EntryFilter,
  options: {
    /** The table of conversations. */
    readonly conversations: string
    /** How the database writes its n-th parameter, from 1. */
    readonly parameter: (n: number) => string
  },
): SqlFilter {
  const parts: string[] = []
  const values: (string | number)[] = []
  const parameter = (value: string | number) => options.parameter(values.push(value))
  const { conversation } = filter
  if (conversation !== undefined) {
    const named = `SELECT ref FROM ${options.conversations} WHERE id = ${parameter(conversation)}`
    parts.push(`e.conversation = (${named})`)
  }
  for (const [name, condition] of Object.entries(CONDITIONS)) {
    const value = filter[name as keyof typeof CONDITIONS]
    if (value !== undefined) parts.push(`${condition} ${parameter(value)}`)
  }
  // Lets the partial indexes answer: the planner cannot know what a parameter will be.
  if (filter.settlement !== undefined && filter.settlement !== 'ok') {
    parts.push("e.settlement <> 'ok'")
  }
  if (filter.kind === 'summary' || filter.kind === 'rewind') {
    parts.push("e.kind IN ('summary', 'rewind')")
  }
  const where = parts.length === 0 ? '1 = 1' : parts.join(' AND ')
  const { turnId, tool, checksum, settlement } = filter
  const isSearch = [turnId, tool, checksum, settlement].some((value) => value !== undefined)
  return { where, values, order: conversation === undefined ? 'e.position' : 'e.seq', isSearch }
}
