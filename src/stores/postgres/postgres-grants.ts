import type { StoreDriver } from '../../store/rows/store-driver.ts'
import type { GrantRow } from '../../store/rows/store-rows.ts'
import { sqlGrants } from '../sql/sql-grants.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import type { PostgresRow, Queries } from './postgres-queries.ts'
import type { Tables } from './postgres-tables.ts'

const grantIn = ({ conversations, grants }: Tables) => `SELECT g.expires_at AS until,
  c.id AS conversation, g.id, g.scope, g.tool, g.shape, g.pattern, g.state, g.digest, g.body
  FROM ${grants} g JOIN ${conversations} c ON c.ref = g.conversation`

/** The table of standing approvals. */
export function postgresGrants(
  { read, write }: PostgresConnection,
  tables: Tables,
): Pick<StoreDriver, 'grant' | 'grants' | 'grantShapes' | 'replaceGrant'> {
  const { conversations, grants } = tables
  const dialect = { conversations, grants, parameter: (number: number) => `$${number}` }
  const GRANT = grantIn(tables)
  const SHAPES = shapesIn(grants)
  return {
    grant: (id) =>
      read('read a grant', async (queries) => {
        const [row] = await queries.rows(`${GRANT} WHERE g.id = $1`, [id])
        return row && grantRow(row)
      }),

    grants: (listing) =>
      read('list grants', async (queries) => {
        const { rest, values } = sqlGrants(listing, dialect)
        return (await queries.rows(`${GRANT} ${rest}`, values)).map(grantRow)
      }),

    grantShapes: (scopes, tool) =>
      read('find grants', async (queries) => {
        const asked = scopes.map(async (scope) => {
          const rows = await queries.rows(SHAPES, [scope, tool])
          return rows.map((row) => ({ scope, shape: String(row['shape']) }))
        })
        return (await Promise.all(asked)).flat()
      }),

    replaceGrant: (grant, expected) =>
      write('change a grant', (queries) => changeGrant(queries, tables, grant, expected)),
  }
}

/** How many shapes of grants one answer has at most. */
const MAX_SHAPES = 1000

/**
 * The different shapes of live grants, of a scope and a tool. Each step looks up the next one in the index, so many grants of
 * one shape cost no more than one.
 */
function shapesIn(grants: string): string {
  const next = (more: string) => `(SELECT shape FROM ${grants}
    WHERE scope = $1 AND tool = $2 AND state = 'live' ${more} ORDER BY shape LIMIT 1)`
  return `WITH RECURSIVE found (shape) AS (
      SELECT ${next('')} UNION ALL
      SELECT ${next('AND shape > found.shape')} FROM found WHERE found.shape IS NOT NULL
    ) SELECT shape FROM found WHERE shape IS NOT NULL LIMIT ${MAX_SHAPES}`
}

/** The grants with these ids, which stay locked until the transaction ends. */
export async function lockGrants(
  queries: Queries,
  tables: Tables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, GrantRow>> {
  const locked = new Map<string, GrantRow>()
  for (const id of ids) {
    const sql = `${grantIn(tables)} WHERE g.id = $1 FOR UPDATE OF g`
    const [row] = await queries.rows(sql, [id])
    if (row !== undefined) locked.set(id, grantRow(row))
  }
  return locked
}

export async function addGrant(
  queries: Queries,
  { conversations, grants }: Tables,
  grant: GrantRow,
): Promise<void> {
  const { id, conversation, scope, tool, shape, pattern, state, expiresAt, digest, body } = grant
  await queries.change(
    `INSERT INTO ${grants} (id, conversation, scope, tool, shape, pattern, state, expires_at, digest, body)
      VALUES ($1, (SELECT ref FROM ${conversations} WHERE id = $2), $3, $4, $5, $6, $7, $8, $9, $10)`,
    [id, conversation, scope, tool, shape, pattern, state, expiresAt, digest, body],
  )
}

/** Only its state and its text ever change. */
export async function changeGrant(
  queries: Queries,
  { grants }: Tables,
  { id, state, digest, body }: GrantRow,
  expected?: string,
): Promise<boolean> {
  const isSame = expected === undefined ? '' : 'AND digest = $5'
  const sql = `UPDATE ${grants} SET state = $2, digest = $3, body = $4 WHERE id = $1 ${isSame}`
  const values = [id, state, digest, body]
  return (await queries.change(sql, expected === undefined ? values : [...values, expected])) === 1
}

function grantRow(row: PostgresRow): GrantRow {
  const { id, conversation, scope, tool, shape, pattern, state, digest, body } = row
  return {
    id: String(id),
    conversation: String(conversation),
    scope: String(scope),
    tool: String(tool),
    shape: String(shape),
    pattern: String(pattern),
    state: String(state) as GrantRow['state'],
    expiresAt: row['until'] === null ? null : Number(row['until']),
    digest: String(digest),
    body: String(body),
  }
}
