import type { GrantListing } from '../../store/rows/store-driver.ts'

type Value = string | number

/** How a database writes what differs. */
interface Dialect {
  readonly grants: string
  readonly conversations: string
  /** The parameter with this number, from 1. */
  readonly parameter: (number: number) => string
}

/** Which grants a listing means, and in which order. */
export function sqlGrants(
  { scope, tool, conversation, live, after, limit }: GrantListing,
  { grants, conversations, parameter }: Dialect,
): { readonly rest: string; readonly values: readonly Value[] } {
  const values: Value[] = []
  const given = (value: Value) => parameter(values.push(value))
  const where: string[] = []
  if (scope !== undefined) where.push(`g.scope = ${given(scope)}`)
  if (tool !== undefined) where.push(`g.tool = ${given(tool)}`)
  if (conversation !== undefined) {
    where.push(
      `g.conversation = (SELECT ref FROM ${conversations} WHERE id = ${given(conversation)})`,
    )
  }
  if (live !== undefined) {
    where.push("g.state = 'live'")
    where.push(`g.shape = ${given(live.shape)}`)
    where.push(`g.pattern = ${given(live.pattern)}`)
    where.push(`(g.expires_at IS NULL OR g.expires_at > ${given(live.now)})`)
  }
  if (after !== undefined) {
    where.push(`g.position > (SELECT position FROM ${grants} WHERE id = ${given(after)})`)
  }
  const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
  // Those that cover a call are found by their own index; the order would choose another one.
  const order = live === undefined ? 'ORDER BY g.position' : ''
  return { rest: `${condition} ${order} LIMIT ${given(limit)}`, values }
}
