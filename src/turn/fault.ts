import { isBobbinError } from '../core/error.ts'
import type { ErrorCode } from '../core/error-codes.ts'

/**
 * Whose fault an error is, as far as a turn must know: the store fails whatever it is asked (`store`), the
 * store works and does not take what it was given (`refused`), the model or the way to it fails (`model`),
 * or something else, the application's own code for instance.
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
  E_INVALID_DECISION: 'other',
  E_INVALID_EXECUTOR_DECISION: 'other',
  E_REGISTRY_FROZEN: 'other',
  E_JSON_TOO_LARGE: 'other',
  E_INVALID_TURN_INPUT: 'other',
  E_NESTED_TOO_DEEP: 'other',
  E_SCRIPT: 'other',
  E_UNKNOWN_PROTOCOL: 'other',
  E_USAGE: 'other',
  E_INVALID_IMPORT: 'other',
} as const satisfies Record<ErrorCode, Fault>

/** Whose fault it is; an error of another copy of the package may have a code that this one does not know. */
export function faultOf(error: unknown): Fault {
  if (!isBobbinError(error)) return 'other'
  return Object.hasOwn(FAULTS, error.code) ? FAULTS[error.code] : 'other'
}
