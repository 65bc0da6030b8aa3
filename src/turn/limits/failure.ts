import { cutBytes } from '../../core/error/cut-text.ts'
import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import type { ErrorCode } from '../../core/error/error-codes.ts'
import { thrownText } from '../../core/error/thrown-text.ts'

/** How many bytes of an error text a record keeps. */
const MAX_ERROR_BYTES = 16_384

/** The text of a thrown value, cut. `clean` removes secrets before the cut, so that no half of one remains. */
export function errorText(thrown: unknown, clean = (text: string) => text): string {
  return cutBytes(clean(thrownText(thrown)), MAX_ERROR_BYTES)
}

/** The error of a store as a BobbinError: the application's own store may throw anything. */
export function storeFailure(thrown: unknown): BobbinError {
  if (isBobbinError(thrown)) return thrown
  const detail = thrownText(thrown)
  return new BobbinError(
    'E_STORE_UNAVAILABLE',
    detail,
    { reason: 'other', detail },
    { cause: thrown },
  )
}

/** Asks a store or a spool; whatever it throws becomes a store failure. */
export async function askStore<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw storeFailure(error)
  }
}

/**
 * The cause of an error: the store is out of order (`store`), the store refused what it was given (`refused`), the
 * model or the connection to it failed (`model`), or anything else, such as the application's own code (`other`).
 */
export type Fault = 'store' | 'refused' | 'model' | 'other'

const FAULTS = {
  E_STORE_KEY: 'store',
  E_STORE_CORRUPT: 'store',
  E_STORE_UNAVAILABLE: 'store',
  E_STORE_TOO_NEW: 'store',
  E_STALE_RUNNER: 'store',
  E_SPOOL_NOT_FOUND: 'store',
  E_SPOOL_CORRUPT: 'store',
  E_SPOOL_QUOTA: 'store',
  E_SPOOL_WRITE_FAILED: 'store',
  E_SPOOL_READ_FAILED: 'store',
  E_SPOOL_INVALID_NAME: 'store',

  E_NOT_FOUND: 'refused',
  E_CONVERSATION_BUSY: 'refused',
  E_CONVERSATION_EXISTS: 'refused',
  E_DUPLICATE_ENTRY: 'refused',
  E_GATE_STATE: 'refused',
  E_GRANT_STATE: 'refused',
  E_INVALID_STORE_INPUT: 'refused',
  E_INVALID_INPUT: 'refused',
  E_SPOOL_INVALID_INPUT: 'refused',
  E_UNRESOLVED_REFERENCE: 'refused',

  E_PROVIDER_BAD_REQUEST: 'model',
  E_PROVIDER_CONTEXT_TOO_LONG: 'model',
  E_PROVIDER_AUTH: 'model',
  E_PROVIDER_NOT_FOUND: 'model',
  E_PROVIDER_RATE_LIMITED: 'model',
  E_PROVIDER_UNAVAILABLE: 'model',
  E_PROVIDER_UNREACHABLE: 'model',
  E_STREAM_BROKEN: 'model',
  E_RESPONSE_TOO_LARGE: 'model',
  E_UNKNOWN_PAYLOAD: 'model',

  E_INVALID_INITIAL_TOKENIZABLE_VALUE: 'other',
  E_INVALID_INITIAL_IDENTITY_VALUE: 'other',
  E_INVALID_INITIAL_MESSAGE_VALUE: 'other',
  E_INVALID_INITIAL_THOUGHT_VALUE: 'other',
  E_INVALID_INITIAL_MEMORY_VALUE: 'other',
  E_INVALID_INITIAL_RETRIEVABLE_VALUE: 'other',
  E_INVALID_INITIAL_MEDIA_VALUE: 'other',
  E_INVALID_INITIAL_TOOL_CALL_VALUE: 'other',
  E_INVALID_INITIAL_TOOL_VALUE: 'other',
  E_JSON_TOO_DEEP: 'other',
  E_INVALID_ARGUMENTS: 'other',
  E_ARGUMENTS_REJECTED: 'other',
  E_TOOL_DOWNSTREAM_ERROR: 'other',
  E_TOOL_COLLISION: 'other',
  E_MISSING_CAPABILITY: 'other',
  E_MISSING_PACKAGE: 'other',
  E_NOT_A_SPOOL_READER: 'other',
  E_NOT_A_MEDIA_READER: 'other',
  E_PATTERN_UNSUPPORTED: 'other',
  E_INVALID_CURSOR: 'other',
  E_LIMIT_EXCEEDED: 'other',
  E_ARTIFACT_MALFORMED: 'other',
  E_INVALID_PATH: 'other',
  E_INVALID_OUTPUT: 'other',
  E_INVALID_RUNNER: 'other',
  E_INVALID_MODEL: 'other',
  E_INVALID_LISTENER: 'other',
  E_TURN_CONFLICT: 'other',
  E_EFFECTS_WOULD_REPEAT: 'other',
  E_QUEUE_FULL: 'other',
  E_INVALID_POSITION: 'other',
  E_INVALID_DECISION: 'other',
  E_DECISION_NOT_ALLOWED: 'other',
  E_INVALID_EXECUTOR_DECISION: 'other',
  E_REGISTRY_FROZEN: 'other',
  E_JSON_TOO_LARGE: 'other',
  E_INVALID_TURN_INPUT: 'other',
  E_EFFECT_UNKNOWN: 'other',
  E_MCP_UNAVAILABLE: 'other',
  E_MCP_INVALID: 'other',
  E_MCP_CHANGED: 'other',
  E_MCP_SIGN_IN: 'other',
  E_MCP_SIGN_IN_FAILED: 'other',
  E_NESTED_TOO_DEEP: 'other',
  E_SCRIPT: 'other',
  E_UNKNOWN_PROTOCOL: 'other',
  E_USAGE: 'other',
  E_INVALID_IMPORT: 'other',
  E_CANNOT_UNDO: 'other',
  E_ENGINE: 'other',
} as const satisfies Record<ErrorCode, Fault>

/** The cause of an error. An error of another version of the package may have a code that is unknown here. */
export function faultOf(error: unknown): Fault {
  if (!isBobbinError(error)) return 'other'
  return Object.hasOwn(FAULTS, error.code) ? FAULTS[error.code] : 'other'
}
