import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import type { StoreFailure } from '../../core/error/error-codes.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { storeCorrupt } from '../../store/store-errors.ts'

/** SQLite's own result codes; the extended ones have these in their low byte. */
const CODES: Readonly<Record<string, number>> = {
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_READONLY: 8,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_PROTOCOL: 15,
  SQLITE_NOTADB: 26,
}

const FAILURES: Readonly<Record<number, StoreFailure>> = {
  5: 'locked',
  6: 'locked',
  8: 'read-only',
  13: 'full',
  14: 'cannot-open',
  15: 'locked',
}

const WAYS_OUT: Readonly<Record<StoreFailure, string>> = {
  full: 'the disk is full: free some space and try again; nothing that was stored is lost',
  'read-only': 'the database cannot be written: check the rights of the file and its folder',
  locked:
    'another connection holds the database: try again, or look for a process that keeps it open',
  'cannot-open': 'the file cannot be opened: check that its folder exists and can be written',
  disconnected: 'the connection is gone: try again',
  closed: 'the store was closed: open it again',
  'no-driver': 'no SQLite driver was found',
  other: 'see `detail` for what SQLite said',
}

/** SQLite's result code, in the words of any binding. */
function sqliteCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, errcode, rawCode, message } = error as Partial<Record<string, unknown>>
  const number = typeof errcode === 'number' ? errcode : rawCode
  if (typeof number === 'number') return number & 0xff
  // Node's file system says the rest in its own codes.
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return CODES['SQLITE_CANTOPEN']
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return CODES['SQLITE_READONLY']
  if (code === 'ENOSPC' || code === 'EDQUOT') return CODES['SQLITE_FULL']
  const name = typeof code === 'string' ? /^SQLITE_[A-Z]+/.exec(code)?.[0] : undefined
  if (name !== undefined) return CODES[name]
  const opened =
    typeof message === 'string' ? /local database .*: (\d+)"/.exec(message)?.[1] : undefined
  return opened === undefined ? undefined : Number(opened) & 0xff
}

/** True when a unique index refused a row; `asStoreError` keeps what SQLite said as the cause. */
export function isDuplicate(error: unknown): boolean {
  if (!isBobbinError(error, 'E_STORE_UNAVAILABLE')) return false
  const { code, errcode } = (error.cause ?? {}) as Partial<Record<string, unknown>>
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || errcode === 2067
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && FAILURES[code] === 'locked'
}

/** Turns an error of a binding into one of ours. */
export function asStoreError(error: unknown, doing: string): Error {
  if (isBobbinError(error)) return error
  const code = sqliteCode(error)
  const detail = thrownText(error)
  if (code === CODES['SQLITE_NOTADB']) return noDatabase(doing, detail)
  if (code === CODES['SQLITE_CORRUPT'])
    return storeCorrupt('The database', `SQLite says: ${detail}`)
  const reason = (code === undefined ? undefined : FAILURES[code]) ?? 'other'
  if (code === undefined && !isSqliteError(error)) return error as Error
  const message = `SQLite could not ${doing}: ${WAYS_OUT[reason]}.`
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason, detail }, { cause: error })
}

/** Usually the wrong file was named. A database without its first page looks the same. */
function noDatabase(doing: string, reason: string): BobbinError<'E_STORE_CORRUPT'> {
  const message = `SQLite could not ${doing}: the file is not a database. Name the file of a store, or restore a backup if it was one.`
  return new BobbinError('E_STORE_CORRUPT', message, { where: 'The database', reason })
}

/** Other errors are mistakes of ours and must not look like faults of the database. */
function isSqliteError(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return name === 'SqliteError' || code === 'ERR_SQLITE_ERROR'
}
