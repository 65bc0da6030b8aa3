import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import type { StoreFailure } from '../../core/error/error-codes.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { storeCorrupt } from '../../store/store-errors.ts'

/** Codes of the client library and of the operating system for a server that does not answer. */
const DISCONNECTED =
  /^(CONNECTION_|CONNECT_TIMEOUT$|ECONN|EPIPE$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$|ENOTFOUND$|EAI_AGAIN$|ENOENT$)/

/**
 * The server stops, starts, is full, or ended a connection that was silent for too long. The last code comes
 * from the client, if it has begun a transaction without reserving a connection for it.
 */
const OUT_OF_REACH = /^(08|57P|53300$|25P03$|UNSAFE_TRANSACTION$)/

/** PostgreSQL's own codes, by their beginning. */
const STATES: readonly (readonly [string, StoreFailure])[] = [
  ['08', 'disconnected'],
  ['57P', 'disconnected'],
  ['25P03', 'disconnected'],
  ['UNSAFE_TRANSACTION', 'disconnected'],
  ['53300', 'disconnected'],
  ['53', 'full'],
  ['25006', 'read-only'],
  ['42501', 'read-only'],
  ['55P03', 'locked'],
  ['40', 'locked'],
  ['28', 'cannot-open'],
  ['3D', 'cannot-open'],
]

const WAYS_OUT: Partial<Record<StoreFailure, string>> = {
  disconnected: 'the server cannot be reached. Nothing was changed: try again when it is back',
  full: 'the server has no room left: free some and try again; nothing that was stored is lost',
  'read-only':
    'the database cannot be written: check the rights of the role, and that the server is not a replica',
  locked: 'another transaction was faster: try again',
  'cannot-open': 'the role or the database is not accepted: check user, password and database',
}

const IN_DOUBT =
  'the server could not be reached during a commit, which may have been stored or not: ' +
  'read it back, then try again'

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** True when the transaction lost against another one: it was rolled back, and can be run again. */
export function hasLostRace(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40001' || code === '40P01'
}

/** True when the connection is gone, was never made, or was not reserved; a later one may do. */
export function isOutOfReach(error: unknown): boolean {
  const code = codeOf(error)
  if (code === undefined) return false
  return isCutOff(error) || OUT_OF_REACH.test(code)
}

/** True if the connection is gone, so that nothing can be sent or received. */
export function isCutOff(error: unknown): boolean {
  return DISCONNECTED.test(codeOf(error) ?? '')
}

/** True when the server refused a statement, and the connection can be used as before. */
export function isRefusal(error: unknown): boolean {
  return codeOf(error) !== undefined && (error as { severity?: unknown }).severity === 'ERROR'
}

/** The client's error for a lost connection, for one that was lost between two statements. */
export function connectionClosed(): Error {
  return Object.assign(new Error('the connection was closed'), { code: 'CONNECTION_CLOSED' })
}

export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === '23505'
}

/** Turns an error of the client into one of ours. `inDoubt` if a commit got no answer. */
export function asStoreError(error: unknown, doing: string, inDoubt: boolean): Error {
  if (isBobbinError(error)) return error
  const code = codeOf(error)
  if (code === undefined) return error as Error
  const detail = thrownText(error)
  if (code.startsWith('XX')) return storeCorrupt('The database', `PostgreSQL says: ${detail}`)
  const reason = DISCONNECTED.test(code)
    ? 'disconnected'
    : (STATES.find(([beginning]) => code.startsWith(beginning))?.[1] ?? 'other')
  const wayOut = inDoubt ? IN_DOUBT : (WAYS_OUT[reason] ?? 'see `detail` for what it said')
  const message = `PostgreSQL could not ${doing}: ${wayOut}.`
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason, detail }, { cause: error })
}
