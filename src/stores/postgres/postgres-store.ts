import type { Sql } from 'postgres'
import { requireOptions } from '../../core/error/wrong-input.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { createStore, STORE_OPTIONS, type StoreOptions } from '../../store/core/create-store.ts'
import type { Store } from '../../store/store.ts'
import { invalidInput } from '../../store/store-errors.ts'
import { ALONE, connectionTo, loadClient } from './postgres-client.ts'
import { postgresDriver } from './postgres-driver.ts'
import { postgresNotifications } from './postgres-notifications.ts'
import { spoolIn } from './postgres-spool.ts'
import { tablesIn } from './postgres-tables.ts'

/** Where the database is, and how the store uses it. */
export interface PostgresStoreOptions extends StoreOptions {
  /** Where the server is, as in `postgres://user:password@host:5432/database`. */
  readonly url?: string
  /** A client of the `postgres` package to use instead; it stays open when the store is closed. */
  readonly client?: Sql
  /** The PostgreSQL schema that holds the tables, made if it is not there; `public` unless given. */
  readonly schema?: string
  /** How many connections are opened at most; ten unless given. */
  readonly connections?: number
  /**
   * How long to try again if a change was certainly not stored, because the server could not be reached or
   * another transaction was faster; five seconds by default.
   */
  readonly retryTimeoutMs?: number
  /** Where larger bytes go: a durable spool that every process can reach; tables of the same database unless given. */
  readonly spool?: SpoolStore
}

const OPTIONS = [
  ...STORE_OPTIONS,
  'url',
  'client',
  'schema',
  'connections',
  'retryTimeoutMs',
  'spool',
]

/** A store in PostgreSQL, connected on first use, for many processes on many machines. */
export function postgresStore(options: PostgresStoreOptions): Store {
  requireOptions('postgresStore', options, OPTIONS)
  const { url, client, schema = 'public', connections = 10, ...others } = options
  const { retryTimeoutMs = 5000, ...shared } = others
  if ((url === undefined) === (client === undefined)) {
    throw invalidInput('options', 'must have either `url` or `client`')
  }
  const tables = tablesIn(schema)
  const connection = connectionTo({ url, client, connections, retryTimeoutMs }, tables)
  const notifications = postgresNotifications(`bobbin_${schema}`, async () => {
    if (client !== undefined) return { client, isOurs: false }
    const open = await loadClient()
    return { client: open(url ?? '', { ...ALONE, connect_timeout: 15 }), isOurs: true }
  })
  const { spool = spoolIn(connection, tables), ...rest } = shared
  return createStore(postgresDriver(connection, tables, notifications), { ...rest, spool })
}
