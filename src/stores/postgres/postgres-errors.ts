import { BobbinError, isBobbinError } from '../../core/error.ts'
import type { StoreFailure } from '../../core/error-codes.ts'
import { storeCorrupt } from '../../store/store-errors.ts'

/** Codes of the client library and of the operating system that say: nobody there. */
const DISCONNECTED =
  /^(CONNECTION_|CONNECT_TIMEOUT$|ECONN|EPIPE$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$|ENOTFOUND$|EAI_AGAIN$|ENOENT$)/

/** PostgreSQL's own codes, by their beginning. */
const STATES: readonly (readonly [string, StoreFailure])[] = [
  ['08', 'disconnected'],
  ['57P', 'disconnected'],
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
  disconnected:
    'the server is not there. What was under way may have been stored or not: read it back, then try again',
  full: 'the server has no room left: free some and try again; nothing that was stored is lost',
  'read-only':
    'the database may not be written: check the rights of the role, and that it is no replica',
  locked: 'somebody else was faster: try again',
  'cannot-open': 'the role or the database is not accepted: check user, password and database',
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** True when the transaction lost against another one and can simply be run again. */
export function isLostRace(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40001' || code === '40P01'
}

export function isDuplicate(error: unknown): boolean {
  return codeOf(error) === '23505'
}

/** What the client threw, as one of our errors. */
export function asStoreError(error: unknown, doing: string): Error {
  if (isBobbinError(error)) return error
  const code = codeOf(error)
  if (code === undefined) return error as Error
  const detail = error instanceof Error ? error.message : String(error)
  if (code.startsWith('XX')) return storeCorrupt('The database', `PostgreSQL says: ${detail}`)
  const reason = DISCONNECTED.test(code)
    ? 'disconnected'
    : (STATES.find(([beginning]) => code.startsWith(beginning))?.[1] ?? 'other')
  const wayOut = WAYS_OUT[reason] ?? 'see `detail` for what it said'
  const message = `PostgreSQL could not ${doing}: ${wayOut}.`
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason, detail }, { cause: error })
}
