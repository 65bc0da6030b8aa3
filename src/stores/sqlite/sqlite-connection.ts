import { setTimeout as sleep } from 'node:timers/promises'
import { BobbinError } from '../../core/error/error.ts'
import { groupCommit } from './group-commit.ts'
import { migrate } from './schema.ts'
import type { Sqlite } from './sqlite-database.ts'
import { asStoreError, isBusy } from './sqlite-errors.ts'

/**
 * WAL keeps readers and the writer apart, FULL syncs each commit. Mostly `patiently` waits for a lock; the short
 * timeout comes first because another process may be recovering the file.
 */
const SETTINGS = `
  PRAGMA busy_timeout = 20;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
`

/** An open database to which work is given piece by piece; each piece runs without interruption. */
export interface SqliteConnection {
  read<T>(what: string, work: (sqlite: Sqlite) => T): Promise<T>
  /**
   * Runs `work` in a transaction that holds the write lock from its beginning, possibly together with
   * other work and possibly more than once; resolves when it is durable.
   */
  write<T>(what: string, work: (sqlite: Sqlite) => T): Promise<T>
  close(): Promise<void>
}

/**
 * Opens on first use. A locked database is tried again until `busyTimeoutMs` is over. The event loop is free in
 * between; SQLite's own waiting would block it.
 */
export function sqliteConnection(
  open: () => Sqlite | Promise<Sqlite>,
  options: { readonly busyTimeoutMs: number; readonly name: string },
): SqliteConnection {
  let opening: Promise<Sqlite> | undefined
  let closed = false

  const opened = () => {
    if (closed) throw closedError()
    opening ??= openMigrated().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const openMigrated = async () => {
    const sqlite = await open()
    try {
      await patiently(`prepare \`${options.name}\``, () => {
        sqlite.exec(SETTINGS)
        migrate(sqlite)
      })
      return sqlite
    } catch (error) {
      sqlite.close()
      throw error
    }
  }

  const patiently = async <T>(what: string, work: () => T): Promise<T> => {
    const until = performance.now() + options.busyTimeoutMs
    for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
      try {
        return work()
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw asStoreError(error, what)
      }
      await sleep(pause)
    }
  }

  const commits = groupCommit(async (what, work) => {
    const sqlite = (await opening) as Sqlite
    return patiently(what, () => inTransaction(sqlite, work))
  })

  return {
    async read(what, work) {
      const sqlite = await opened()
      return patiently(what, () => work(sqlite))
    },
    async write(what, work) {
      await opened()
      return commits.run(what, work)
    },
    async close() {
      closed = true
      await commits.idle()
      const sqlite = await opening?.catch(() => undefined)
      sqlite?.close()
    },
  }
}

function inTransaction<T>(sqlite: Sqlite, work: (sqlite: Sqlite) => T): T {
  sqlite.run('BEGIN IMMEDIATE')
  try {
    const result = work(sqlite)
    sqlite.run('COMMIT')
    return result
  } catch (error) {
    try {
      sqlite.run('ROLLBACK')
    } catch {
      // SQLite rolls back by itself after some errors.
    }
    throw error
  }
}

function closedError(): BobbinError<'E_STORE_UNAVAILABLE'> {
  const message = 'The store was closed: open it again with `sqliteStore`.'
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason: 'closed', detail: 'closed' })
}
