import type { StoreDriver } from '../../store/rows/store-driver.ts'
import type { GrantRow } from '../../store/rows/store-rows.ts'
import { sqlGrants } from '../sql/sql-grants.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Sqlite, SqliteRow } from './sqlite-database.ts'
import { asBytes, textOf } from './sqlite-rows.ts'

const DIALECT = {
  grants: 'bobbin_grants',
  conversations: 'bobbin_conversations',
  parameter: () => '?',
} as const
const GRANT = `SELECT g.expires_at, CAST(c.id AS BLOB) AS conversation,
  ${asBytes('id, scope, tool, shape, pattern, state, digest, body', 'g.')}
  FROM bobbin_grants g JOIN bobbin_conversations c ON c.ref = g.conversation`
/** The next shape in the index: many grants of one shape cost no more than one. */
const NEXT_SHAPE = `SELECT CAST(g.shape AS BLOB) AS shape FROM bobbin_grants g
  WHERE g.scope = ? AND g.tool = ? AND g.state = 'live' AND g.shape > ? ORDER BY g.shape LIMIT 1`
const MAX_SHAPES = 1000

/** The table of standing approvals. */
export const sqliteGrants = ({
  read,
  write,
}: SqliteConnection): Pick<StoreDriver, 'grant' | 'grants' | 'grantShapes' | 'replaceGrant'> => ({
  grant: (id) => read('read a grant', (sqlite) => grantIn(sqlite, id)),

  grants: (listing) =>
    read('list grants', (sqlite) => {
      const { rest, values } = sqlGrants(listing, DIALECT)
      const rows = sqlite.all(`${GRANT} ${rest}`, values) as readonly SqliteRow[]
      return rows.map(grantRow)
    }),

  grantShapes: (scopes, tool) =>
    read('find grants', (sqlite) =>
      scopes.flatMap((scope) => {
        const found: { readonly scope: string; readonly shape: string }[] = []
        for (let last = ''; found.length < MAX_SHAPES; ) {
          const row = sqlite.get(NEXT_SHAPE, [scope, tool, last])
          if (row === undefined) break
          last = textOf(row['shape'])
          found.push({ scope, shape: last })
        }
        return found
      }),
    ),

  replaceGrant: (grant, expected) =>
    write('change a grant', (sqlite) => changeGrant(sqlite, grant, expected)),
})

/** The grants with these ids. */
export const grantsIn = (sqlite: Sqlite, ids: readonly string[]): ReadonlyMap<string, GrantRow> =>
  new Map(ids.flatMap((id) => grantIn(sqlite, id) ?? []).map((grant) => [grant.id, grant]))

function grantIn(sqlite: Sqlite, id: string): GrantRow | undefined {
  const row = sqlite.get(`${GRANT} WHERE g.id = ?`, [id])
  return row && grantRow(row)
}

export function addGrant(sqlite: Sqlite, grant: GrantRow): void {
  const { id, conversation, scope, tool, shape, pattern, state, expiresAt, digest, body } = grant
  sqlite.run(
    `INSERT INTO bobbin_grants (id, conversation, scope, tool, shape, pattern, state, expires_at, digest, body)
      VALUES (?, (SELECT ref FROM bobbin_conversations WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?)`,
    [id, conversation, scope, tool, shape, pattern, state, expiresAt, digest, body],
  )
}

/** Only its state and its text ever change. */
export function changeGrant(sqlite: Sqlite, grant: GrantRow, expected?: string): boolean {
  const { id, state, digest, body } = grant
  const isSame = expected === undefined ? '' : 'AND digest = ?'
  const sql = `UPDATE bobbin_grants SET state = ?, digest = ?, body = ? WHERE id = ? ${isSame}`
  const values = [state, digest, body, id]
  const { changes } = sqlite.run(sql, expected === undefined ? values : [...values, expected])
  return changes === 1
}

function grantRow(row: SqliteRow): GrantRow {
  const { id, conversation, scope, tool, shape, pattern, state, digest, body } = row
  const expiresAt = row['expires_at']
  return {
    id: textOf(id),
    conversation: textOf(conversation),
    scope: textOf(scope),
    tool: textOf(tool),
    shape: textOf(shape),
    pattern: textOf(pattern),
    state: textOf(state) as GrantRow['state'],
    expiresAt: expiresAt === null ? null : Number(expiresAt),
    digest: textOf(digest),
    body: textOf(body),
  }
}
