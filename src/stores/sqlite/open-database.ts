import { open } from 'node:fs/promises'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { type Sqlite, type SqliteDatabase, sqliteOver } from './sqlite-database.ts'
import { asStoreError } from './sqlite-errors.ts'

type Constructor = new (path: string) => SqliteDatabase

/** Opens a file with the SQLite that Node has, or else with `libsql`. */
export async function openDatabase(path: string): Promise<Sqlite> {
  const binding = await findBinding()
  try {
    await makePrivate(path)
    const sqlite = sqliteOver(new binding.Database(path), binding.parameters)
    return { ...sqlite, close: () => closeWhole(sqlite) }
  } catch (error) {
    throw asStoreError(error, `open \`${path}\``)
  }
}

/**
 * Moves the log into the file before it closes: `libsql` keeps the file open until a garbage collection, and SQLite does this
 * by itself only when the last connection is really gone.
 */
function closeWhole(sqlite: Sqlite): void {
  try {
    sqlite.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Another connection is busy; it moves the log when it closes.
  }
  sqlite.close()
}

/**
 * Makes the file, if it does not exist, so that only its owner can read the keys and conversations in it. WAL
 * and index files get the same rights. An existing file is not opened here: closing it would drop the locks of
 * every connection that this process has to it, and another process could then delete its log.
 */
async function makePrivate(path: string): Promise<void> {
  try {
    await (await open(path, 'ax', 0o600)).close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Takes a database that the application opened and will close. */
export function adoptDatabase(database: SqliteDatabase): Sqlite {
  const sqlite = sqliteOver(database, takesArrays(database) ? 'array' : 'spread')
  return { ...sqlite, close: () => undefined }
}

function takesArrays(database: SqliteDatabase): boolean {
  const probe = database.prepare('SELECT ? AS value')
  try {
    const row = probe.get(['x'] as unknown as string) as { readonly value?: unknown } | undefined
    return row?.value === 'x'
  } catch {
    return false
  }
}

interface Binding {
  readonly Database: Constructor
  readonly parameters: 'array' | 'spread'
}

let found: Promise<Binding> | undefined

function findBinding(): Promise<Binding> {
  found ??= nodeBinding()
    .catch(libsqlBinding)
    .catch((cause: unknown) => {
      found = undefined
      throw noDriver(cause)
    })
  return found
}

async function nodeBinding(): Promise<Binding> {
  // Without types: those of the oldest Node that we support do not know the module.
  const name = 'node:sqlite'
  const loaded = globalThis.process.getBuiltinModule(name) as
    | { DatabaseSync: Constructor }
    | undefined
  if (loaded === undefined) throw new Error('this Node has no node:sqlite')
  return { Database: loaded.DatabaseSync, parameters: 'spread' }
}

async function libsqlBinding(): Promise<Binding> {
  const loaded = (await import('libsql')) as unknown as { default: Constructor }
  return { Database: loaded.default, parameters: 'array' }
}

function noDriver(cause: unknown): BobbinError<'E_STORE_UNAVAILABLE'> {
  const detail = thrownText(cause)
  const message =
    'No SQLite was found: use Node 22.13 or later, or `npm install libsql`, or pass a better-sqlite3 ' +
    'database as `{ database }`.'
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason: 'no-driver', detail }, { cause })
}
