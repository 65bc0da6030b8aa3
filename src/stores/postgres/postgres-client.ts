import type { Sql } from 'postgres'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { type PostgresConnection, postgresConnection } from './postgres-connection.ts'
import { borrowedPool, sessionPool } from './postgres-pool.ts'
import { postgresSession } from './postgres-session.ts'
import type { Tables } from './postgres-tables.ts'

/** Where the server is, and how many connections may be opened to it. */
export interface Server {
  readonly url: string | undefined
  readonly client: Sql | undefined
  readonly connections: number
  readonly retryTimeoutMs: number
}

/** A connection to a server, or over the client of the application; opened on first use. */
export function connectionTo(server: Server, tables: Tables): PostgresConnection {
  const { url, client, connections, retryTimeoutMs } = server
  const connect = async () => {
    if (client !== undefined) return borrowedPool(client)
    const open = await loadClient()
    const session = () => postgresSession((onclose) => open(url ?? '', { ...ALONE, onclose }))
    return sessionPool(session, connections)
  }
  return postgresConnection(connect, tables, { retryTimeoutMs })
}

/** A client with one connection that never closes by itself between statements. */
export const ALONE = {
  max: 1,
  connect_timeout: 0,
  idle_timeout: 0,
  max_lifetime: null,
  fetch_types: false,
  onnotice: () => undefined,
} as const

/** Loads the `postgres` package, which only users of PostgreSQL install. */
export async function loadClient() {
  try {
    return (await import('postgres')).default
  } catch (cause) {
    const message = 'The `postgres` package was not found: run `npm install postgres`.'
    const detail = thrownText(cause)
    const data = { reason: 'no-driver', detail } as const
    throw new BobbinError('E_STORE_UNAVAILABLE', message, data, { cause })
  }
}
