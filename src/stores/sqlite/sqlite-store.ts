import { requireOptions } from '../../core/error/wrong-input.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { createStore, STORE_OPTIONS, type StoreOptions } from '../../store/core/create-store.ts'
import type { Store } from '../../store/store.ts'
import { invalidInput } from '../../store/store-errors.ts'
import { fileSpool } from '../fs/file-spool.ts'
import { deltaFiles } from './delta-file.ts'
import { adoptDatabase, openDatabase } from './open-database.ts'
import { sqliteConnection } from './sqlite-connection.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { sqliteDriver } from './sqlite-driver.ts'

/** How a store in SQLite opens its file, and what it keeps out of it. */
export interface SqliteStoreOptions extends StoreOptions {
  /**
   * An open `better-sqlite3`, `libsql` or `node:sqlite` database to use instead of opening `path`; it
   * stays open when the store is closed.
   */
  readonly database?: SqliteDatabase
  /** Where larger bytes go; a folder beside the file unless given. */
  readonly spool?: SpoolStore
  /** How long to wait while another connection writes; five seconds by default. */
  readonly busyTimeoutMs?: number
}

const OPTIONS = [...STORE_OPTIONS, 'database', 'spool', 'busyTimeoutMs']

/**
 * A store in one SQLite file, opened on first use, with every commit synced; larger bytes lie in
 * `<path>.spool/` beside it. While another process follows a turn, what streams passes through `<path>.live/`.
 */
export function sqliteStore(path: string, options: SqliteStoreOptions = {}): Store {
  if (typeof path !== 'string' || path === '' || path.startsWith(':') || path.startsWith('file:')) {
    throw invalidInput('path', 'must be the path of a file; `memoryStore()` keeps nothing on disk')
  }
  requireOptions('sqliteStore', options, OPTIONS)
  const { database, busyTimeoutMs = 5000, ...shared } = options
  const open = () => (database === undefined ? openDatabase(path) : adoptDatabase(database))
  const { clock } = shared
  const spool = shared.spool ?? fileSpool(`${path}.spool`, clock && { clock })
  const connection = sqliteConnection(open, { busyTimeoutMs, name: path })
  return createStore(sqliteDriver(connection, deltaFiles(`${path}.live`)), { ...shared, spool })
}
