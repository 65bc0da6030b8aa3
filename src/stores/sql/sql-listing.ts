import type { ConversationListing } from '../../store/rows/conversation-listing.ts'

const COLUMNS = { id: 'c.id', createdAt: 'c.created_at', updatedAt: 'c.updated_at' } as const

/** A listing as the rest of a SELECT over conversations `c`; values never become part of the text. */
export function sqlListing(
  listing: ConversationListing,
  options: {
    /** The table of metadata. */
    readonly meta: string
    /** How the database writes its n-th parameter, from 1. */
    readonly parameter: (n: number) => string
  },
): { readonly rest: string; readonly values: readonly (string | number)[] } {
  const { orderBy, descending, after, from, before, topLevel, meta, limit } = listing
  const values: (string | number)[] = []
  const parameter = (value: string | number) => options.parameter(values.push(value))
  const parts = [`c.id >= ${parameter(from)}`]
  if (before !== undefined) parts.push(`c.id < ${parameter(before)}`)
  if (topLevel) parts.push('c.parent IS NULL')
  for (const { name, value } of meta) {
    parts.push(
      `c.ref IN (SELECT conversation FROM ${options.meta} WHERE name = ${parameter(name)} AND value = ${parameter(value)})`,
    )
  }
  const column = COLUMNS[orderBy]
  if (after !== undefined) {
    const compare = descending ? '<' : '>'
    const place =
      orderBy === 'id'
        ? `c.id ${compare} ${parameter(after.id)}`
        : `(${column}, c.id) ${compare} (${parameter(after[orderBy])}, ${parameter(after.id)})`
    parts.push(place)
  }
  const direction = descending ? 'DESC' : 'ASC'
  const order = orderBy === 'id' ? '' : `${column} ${direction}, `
  const rest = `WHERE ${parts.join(' AND ')} ORDER BY ${order}c.id ${direction} LIMIT ${parameter(limit)}`
  return { rest, values }
}
