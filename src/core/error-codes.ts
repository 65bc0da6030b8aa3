/** What a rejected field looks like: where it is, which rule it broke, and how to satisfy it. */
export interface InvalidField {
  /** Dotted path of the offending field, or an empty string for the value as a whole. */
  readonly path: string
  readonly rule: string
}

/** What a provider's failure tells. */
export interface ProviderFailure {
  readonly api: string
  readonly status?: number
  /** The provider's own code or type. */
  readonly providerCode?: string
  readonly isRetryable: boolean
  readonly retryAfterMs?: number
}

/** Every error code with the shape of its `data`. Adding an error is adding a line here. */
export interface ErrorData {
  E_INVALID_INITIAL_TOKENIZABLE_VALUE: InvalidField
  E_INVALID_INITIAL_IDENTITY_VALUE: InvalidField
  E_INVALID_INITIAL_MESSAGE_VALUE: InvalidField
  E_INVALID_INITIAL_THOUGHT_VALUE: InvalidField
  E_INVALID_INITIAL_MEMORY_VALUE: InvalidField
  E_INVALID_INITIAL_RETRIEVABLE_VALUE: InvalidField
  E_INVALID_INITIAL_MEDIA_VALUE: InvalidField
  E_INVALID_INITIAL_TOOL_CALL_VALUE: InvalidField
  E_INVALID_INITIAL_TOOL_VALUE: InvalidField
  /** JSON nests deeper than the limit. */
  E_JSON_TOO_DEEP: { readonly limit: number }
  /** Arguments are not strict JSON: which rule, and where. */
  E_INVALID_ARGUMENTS: { readonly path: string; readonly rule: ArgumentRule }
  /** Arguments are JSON but do not satisfy the tool's input schema. */
  E_ARGUMENTS_REJECTED: { readonly tool: string; readonly issues: readonly InvalidField[] }
  /** A tool's handler threw; the original is the error's `cause`. */
  E_TOOL_DOWNSTREAM_ERROR: { readonly tool: string }
  /** A tool with this name is registered already. */
  E_TOOL_COLLISION: { readonly tool: string }
  /** A tool used something its context does not offer. */
  E_MISSING_CAPABILITY: { readonly capability: string }
  /** A value that claims to be a spool reader lacks part of the contract. */
  E_NOT_A_SPOOL_READER: { readonly missing: string }
  /** A value that claims to be a media reader lacks part of the contract. */
  E_NOT_A_MEDIA_READER: { readonly missing: string }
  /** The spool holds nothing under this digest. */
  E_SPOOL_NOT_FOUND: { readonly digest: string }
  /** Bytes on the spool are not the bytes that were written. */
  E_SPOOL_CORRUPT: { readonly digest: string; readonly part: string }
  /** Writing would exceed the spool's quota. */
  E_SPOOL_QUOTA: { readonly quota: number; readonly used: number }
  /** The file system refused a write: disk full, read-only, too many files. */
  E_SPOOL_WRITE_FAILED: { readonly reason: string }
  /** The file system refused a read: too many files, no permission, a failing disk. */
  E_SPOOL_READ_FAILED: { readonly reason: string }
  /** Something else than text, bytes or a stream of those was to be spooled. */
  E_SPOOL_INVALID_INPUT: { readonly type: string }
  /** A digest, tenant or other name is not of the form that the spool accepts. */
  E_SPOOL_INVALID_NAME: { readonly name: string; readonly rule: string }
  /** A search pattern that the linear-time engine cannot or will not run. */
  E_PATTERN_UNSUPPORTED: { readonly pattern: string; readonly rule: string }
  /** A cursor that no earlier answer gave. */
  E_INVALID_CURSOR: { readonly cursor: string }
  /** A read asked for more than its limit. */
  E_LIMIT_EXCEEDED: { readonly what: string; readonly limit: number; readonly actual: number }
  /** A provider refused the request as it is; sending it again does not help. */
  E_PROVIDER_BAD_REQUEST: ProviderFailure
  /** The history does not fit the model's context. */
  E_PROVIDER_CONTEXT_TOO_LONG: ProviderFailure
  E_PROVIDER_AUTH: ProviderFailure
  E_PROVIDER_NOT_FOUND: ProviderFailure
  E_PROVIDER_RATE_LIMITED: ProviderFailure
  /** The provider is overloaded or failed by itself. */
  E_PROVIDER_UNAVAILABLE: ProviderFailure
  /** There was no answer at all. */
  E_PROVIDER_UNREACHABLE: ProviderFailure
  /** A response stream ended early or holds what cannot be; none of its calls run. */
  E_STREAM_BROKEN: { readonly reason: string }
  /** A payload is not of any shape that this protocol has. */
  E_UNKNOWN_PAYLOAD: { readonly api: string }
  /** The text of an artifact is not of its kind; the position is counted in bytes. */
  E_ARTIFACT_MALFORMED: { readonly kind: string; readonly position: number }
  /** A path into an artifact cannot be read, or leads nowhere. */
  E_INVALID_PATH: { readonly path: string }
  /** What a handler returned cannot be stored. */
  E_INVALID_OUTPUT: InvalidField
  /** A runner's options contradict each other or lack something. */
  E_INVALID_RUNNER: { readonly rule: string }
  /** A decision on a gate is not of the form that it must have, or does not fit the tool. */
  E_INVALID_DECISION: { readonly gate: string; readonly path: string; readonly rule: string }
  /** What a turn was asked to do cannot be used. */
  E_INVALID_TURN_INPUT: InvalidField
  /** Turns are nested deeper than they may be. */
  E_NESTED_TOO_DEEP: { readonly limit: number }
  /** A test's script was not followed: something unexpected was asked for, or something was left over. */
  E_SCRIPT: { readonly problems: readonly string[] }
  /** A stored record cannot be restored: a part it refers to is not available. */
  E_UNRESOLVED_REFERENCE: { readonly reference: string }
  /** The store has no such conversation, gate or record. */
  E_NOT_FOUND: { readonly what: 'conversation' | 'gate'; readonly id: string }
  /** Another holder's lease on the conversation runs. */
  E_CONVERSATION_BUSY: {
    readonly conversation: string
    readonly owner: string
    readonly expiresAt: number
  }
  /** The conversation has passed to another holder: this one must stop. */
  E_STALE_RUNNER: {
    readonly conversation: string
    readonly epoch: number
    readonly current: number
  }
  /** The conversation has an entry of this kind with this id. */
  E_DUPLICATE_ENTRY: { readonly conversation: string; readonly kind: string; readonly id: string }
  /** A gate is not in a state that allows the change, or is about something else. */
  E_GATE_STATE: { readonly gate: string; readonly state: string; readonly wanted: string }
  /** A conversation of that name is there already. */
  E_CONVERSATION_EXISTS: { readonly conversation: string }
  /** Something handed to the store is not of the form that it takes. */
  E_INVALID_STORE_INPUT: { readonly path: string; readonly rule: string }
  /** The conversation's key is not stored and was not given, or another one was given. */
  E_STORE_KEY: { readonly conversation: string }
  /** A stored record is not what was stored. */
  E_STORE_CORRUPT: { readonly where: string; readonly reason: string }
  /** The database refused: which of its reasons, in its own words. */
  E_STORE_UNAVAILABLE: { readonly reason: StoreFailure; readonly detail: string }
  /** The database was written by a newer version of the package. */
  E_STORE_TOO_NEW: { readonly found: number; readonly supported: number }
  /** An import does not hold what it should, at this line. */
  E_INVALID_IMPORT: { readonly line: number; readonly rule: string }
}

/** Why a database cannot do what it was asked. `locked` and `disconnected` are worth another try. */
export type StoreFailure =
  | 'full'
  | 'read-only'
  | 'locked'
  | 'cannot-open'
  | 'disconnected'
  | 'closed'
  | 'no-driver'
  | 'other'

/** The rules of strict JSON arguments that an input can break. */
export type ArgumentRule =
  | 'not-json'
  | 'not-an-object'
  | 'duplicate-key'
  | 'unsafe-integer'
  | 'not-finite'
  | 'lone-surrogate'
  | 'too-deep'
  | 'too-large'
  | 'cycle'
  | 'not-plain'
  | 'sparse-array'
  | 'unsupported-type'

/** A literal union of every code a `BobbinError` can carry. */
export type ErrorCode = keyof ErrorData
