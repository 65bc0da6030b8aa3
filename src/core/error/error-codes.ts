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
  /** The input of a `Tokenizable` breaks a rule. Correct the field that the path names. */
  E_INVALID_INITIAL_TOKENIZABLE_VALUE: InvalidField
  /** The input of an `Identity` breaks a rule. Correct the field that the path names. */
  E_INVALID_INITIAL_IDENTITY_VALUE: InvalidField
  /** The input of a `Message` breaks a rule. Correct the field that the path names. */
  E_INVALID_INITIAL_MESSAGE_VALUE: InvalidField
  /** The input of a `Thought` breaks a rule. Correct the field that the path names. */
  E_INVALID_INITIAL_THOUGHT_VALUE: InvalidField
  /** The input of a `Memory` breaks a rule. Correct the field that the path names. */
  E_INVALID_INITIAL_MEMORY_VALUE: InvalidField
  /** The input of a `Retrievable` breaks a rule. Correct the field that the path names. */
  E_INVALID_INITIAL_RETRIEVABLE_VALUE: InvalidField
  /** The input of a `Media` breaks a rule. Correct the field that the path names. */
  E_INVALID_INITIAL_MEDIA_VALUE: InvalidField
  /** The input of a `ToolCall` breaks a rule. Correct the field that the path names. */
  E_INVALID_INITIAL_TOOL_CALL_VALUE: InvalidField
  /**
   * The options of a `Tool` break a rule. Correct the option that the path names; the message
   * says what it takes.
   */
  E_INVALID_INITIAL_TOOL_VALUE: InvalidField
  /** JSON nests deeper than the limit. Flatten the value, or hand it over as text. */
  E_JSON_TOO_DEEP: { readonly limit: number }
  /**
   * A value has more members, counted wherever it is referred to, or more characters than one JSON text may
   * have. Hand large parts over as text or as a stream, and write shared parts once.
   */
  E_JSON_TOO_LARGE: { readonly what: 'members' | 'characters'; readonly limit: number }
  /**
   * Arguments are not strict JSON: which rule, and where. A model reads this as the call's result
   * and can ask again; a program passes plain JSON values.
   */
  E_INVALID_ARGUMENTS: { readonly path: string; readonly rule: ArgumentRule }
  /**
   * Arguments are JSON but do not satisfy the tool's input schema. The issues name each field; a
   * model reads them and can ask again.
   */
  E_ARGUMENTS_REJECTED: { readonly tool: string; readonly issues: readonly InvalidField[] }
  /**
   * A tool's handler threw; the original is the error's `cause`. Look there, and at what the
   * handler calls.
   */
  E_TOOL_DOWNSTREAM_ERROR: { readonly tool: string }
  /**
   * A tool with this name is registered already. Rename one of them, or say in `onCollision`
   * which of them stays; names that begin with `artifact_` belong to the kit.
   */
  E_TOOL_COLLISION: { readonly tool: string }
  /** The tools of a runner are fixed when it is made. Pass all tools to the runner. */
  E_REGISTRY_FROZEN: { readonly tool: string }
  /**
   * A tool used something its context does not offer. Run it in a `TurnRunner`, for secrets in one that
   * has `secrets` and knows the name, or pass the capability to `executor`.
   */
  E_MISSING_CAPABILITY: { readonly capability: string }
  /** A package that only some applications need was not found. Install it: the message has the command. */
  E_MISSING_PACKAGE: { readonly package: string; readonly reason: string }
  /**
   * A value that claims to be a spool reader lacks part of the contract. Get one from `write` or
   * `read` of a spool store.
   */
  E_NOT_A_SPOOL_READER: { readonly missing: string }
  /**
   * `fileMedia` needs a regular file. Give the path of a file, not of a folder, or use
   * `bytesMedia`, `blobMedia`, `streamMedia` or `spoolMedia`.
   */
  E_NOT_A_MEDIA_READER: { readonly missing: string }
  /**
   * The spool holds nothing under this digest. Check that this is the spool it was written to,
   * and that no sweep removed it; small results of stored records lie in the store, see `storedResults`.
   */
  E_SPOOL_NOT_FOUND: { readonly digest: string }
  /**
   * Bytes on the spool are not the bytes that were written. Restore the file from a backup, or
   * run the tool again.
   */
  E_SPOOL_CORRUPT: { readonly digest: string; readonly part: string }
  /**
   * Writing would exceed the spool's quota. Delete conversations and call `sweepSpool`, or raise
   * `quotaBytes`.
   */
  E_SPOOL_QUOTA: { readonly quota: number; readonly used: number }
  /**
   * The file system or the S3 server refused a write: disk full, read-only, no permission. Put right what the
   * reason names; nothing half-written is left.
   */
  E_SPOOL_WRITE_FAILED: { readonly reason: string }
  /**
   * The file system or the S3 server refused a read: too many files, no permission, a failing disk. Put right what
   * the reason names and read again.
   */
  E_SPOOL_READ_FAILED: { readonly reason: string }
  /**
   * Something else than text, bytes or a stream of those was to be spooled. Turn it into one of
   * them, e.g. with `JSON.stringify`.
   */
  E_SPOOL_INVALID_INPUT: { readonly type: string }
  /**
   * A digest, tenant or other name is not of the form that the spool accepts. The rule says what
   * it takes.
   */
  E_SPOOL_INVALID_NAME: { readonly name: string; readonly rule: string }
  /**
   * A search pattern that the linear-time engine cannot or will not run. Write it without look-
   * around and back-references, in RE2 syntax.
   */
  E_PATTERN_UNSUPPORTED: { readonly pattern: string; readonly rule: string }
  /**
   * A cursor that no earlier answer gave. Start without one, then pass on what the answer gives.
   */
  E_INVALID_CURSOR: { readonly cursor: string }
  /**
   * A read asked for more than its limit. Ask for a part, or pass a higher limit where the method
   * takes one.
   */
  E_LIMIT_EXCEEDED: { readonly what: string; readonly limit: number; readonly actual: number }
  /**
   * A provider refused the request as it is; sending it again does not help. The message has the
   * provider's own words; `wire(api).validate` names what breaks its rules.
   */
  E_PROVIDER_BAD_REQUEST: ProviderFailure
  /**
   * The history does not fit the model's context. Set `budget.maxTokens`, or return large results
   * as handles with `inline: false`.
   */
  E_PROVIDER_CONTEXT_TOO_LONG: ProviderFailure
  /**
   * The provider does not accept the key, or the key may not use this model. Check the client
   * that you passed in.
   */
  E_PROVIDER_AUTH: ProviderFailure
  /**
   * The provider knows no such model, deployment or address. Check the model's name and the
   * client's base URL.
   */
  E_PROVIDER_NOT_FOUND: ProviderFailure
  /**
   * The provider asks for fewer requests. It is tried again after `retryAfterMs` where the
   * provider says so; lower the load if that is not enough.
   */
  E_PROVIDER_RATE_LIMITED: ProviderFailure
  /**
   * The provider is overloaded or failed by itself. It is tried again before any call was
   * admitted; later, start another turn.
   */
  E_PROVIDER_UNAVAILABLE: ProviderFailure
  /** The provider did not answer. Check the network, the proxy and the client's base URL. */
  E_PROVIDER_UNREACHABLE: ProviderFailure
  /**
   * A response stream ended early or holds what cannot be; none of its calls run. It is tried again
   * before any call was admitted; later, start another turn.
   */
  E_STREAM_BROKEN: { readonly reason: string }
  /**
   * A provider sent more bytes in one response than the model takes; none of its calls run, and it is not tried
   * again. Ask for less, or raise `maxResponseBytes` of the model.
   */
  E_RESPONSE_TOO_LARGE: { readonly api: string; readonly maxResponseBytes: number }
  /** `wire` speaks no such protocol. Use one of the `known` names. */
  E_UNKNOWN_PROTOCOL: { readonly api: string; readonly known: readonly string[] }
  /**
   * A payload is not of any shape that this protocol has. Pass a response, a list of items or a
   * request history, of the protocol that `wire` was made for.
   */
  E_UNKNOWN_PAYLOAD: { readonly api: string }
  /**
   * The text of an artifact is not of its kind; the position is counted in bytes. Query what lies
   * before, read it as text, or choose another `artifactConstructor`.
   */
  E_ARTIFACT_MALFORMED: { readonly kind: string; readonly position: number }
  /**
   * A path into an artifact cannot be read, or leads nowhere. Write it as `users[0].name`,
   * `["a.b"]` or `/users/0/name`.
   */
  E_INVALID_PATH: { readonly path: string }
  /**
   * What a handler returned cannot be stored. Return text, bytes, a stream, media, artifacts or
   * plain JSON; the path names the value that cannot be stored.
   */
  E_INVALID_OUTPUT: InvalidField
  /**
   * A function was called with something that it cannot use. `of` names the function; correct the part of its
   * input that the path names.
   */
  E_INVALID_INPUT: InvalidField & { readonly of: string }
  /**
   * The engine that runs turns on other machines gave no answer, or refused a request. Check its address and that a worker
   * is registered; `status` is that of its answer, 0 without one. Send the same `turnId` again: a turn runs once.
   */
  E_ENGINE: { readonly status: number; readonly reason: string }
  /** A runner's options contradict each other or lack something. The rule says which. */
  E_INVALID_RUNNER: { readonly rule: string }
  /** A model was made of something that no request can be sent with. The message says what to pass. */
  E_INVALID_MODEL: InvalidField
  /**
   * A listener would never hear anything: there is no such event, or it is on the other bus. The message
   * names the events that there are.
   */
  E_INVALID_LISTENER: { readonly event: string }
  /** Another input has this `turnId` already. Give a new input a new `turnId`. */
  E_TURN_CONFLICT: { readonly turnId: string }
  /**
   * Asking again would run calls again that may have changed something; the data names them. Nothing was changed. Pass
   * `redoEffects: true` if they may run twice.
   */
  E_EFFECTS_WOULD_REPEAT: {
    readonly conversation: string
    readonly calls: readonly { readonly id: string; readonly tool: string }[]
  }
  /** Too many messages wait for the conversation. Nothing was queued: send it again later. */
  E_QUEUE_FULL: { readonly conversation: string; readonly limit: number }
  /** A position is not one of this feed. Follow without `after` to read the conversation from its beginning. */
  E_INVALID_POSITION: { readonly position: string; readonly rule: string }
  /** A decision on a gate is not of the form that it must have, or does not fit the tool. */
  E_INVALID_DECISION: { readonly gate: string; readonly path: string; readonly rule: string }
  /** The runner's `mayDecide` refused a decision. The gate stays open: ask a person who may decide it. */
  E_DECISION_NOT_ALLOWED: { readonly gate: string; readonly reason?: string }
  /** What a turn was asked to do cannot be used. */
  E_INVALID_TURN_INPUT: InvalidField
  /** The executor returned an invalid decision; none of its calls were run. */
  E_INVALID_EXECUTOR_DECISION: InvalidField
  /**
   * A handler does not know whether its call took effect: it lost the answer of the service that it called. Throw it
   * from a handler, and the call is settled as in doubt and not repeated.
   */
  E_EFFECT_UNKNOWN: { readonly tool: string }
  /** An MCP server cannot be reached, or the connection to it was lost. The message says why. */
  E_MCP_UNAVAILABLE: { readonly reason: string }
  /** An MCP server offers or answers what cannot be used. The rule says what. */
  E_MCP_INVALID: { readonly rule: string }
  /** An MCP server changed a tool after it was offered. Its new definition counts from the next turn. */
  E_MCP_CHANGED: { readonly tool: string }
  /**
   * An MCP server wants a person to sign in. Send the person to `url`, pass the URL of the callback to `finish`, and try
   * again. Without a `url`, the `authProvider` is yours and knows the page.
   */
  E_MCP_SIGN_IN: { readonly url: string | undefined }
  /** A sign-in at an MCP server gave no token. The reason says why; a new try gives a new page. */
  E_MCP_SIGN_IN_FAILED: { readonly reason: string }
  /** Turns are nested deeper than they may be. */
  E_NESTED_TOO_DEEP: { readonly limit: number }
  /** A test's script was not followed: something unexpected was asked for, or something was left over. */
  E_SCRIPT: { readonly problems: readonly string[] }
  /**
   * A stored record cannot be restored: a part it refers to is not available. Pass the spool that
   * holds the bytes, and classes of your own as `artifacts`.
   */
  E_UNRESOLVED_REFERENCE: { readonly reference: string }
  /**
   * The store has no such conversation, turn, gate, grant or model call. Check the id, and that this is the store it was
   * written to.
   */
  E_NOT_FOUND: {
    readonly what: 'conversation' | 'turn' | 'gate' | 'grant' | 'model call'
    readonly id: string
  }
  /**
   * Another holder's lease on the conversation runs. Wait until `expiresAt`, or take over with
   * `force` when you know that the holder is gone.
   */
  E_CONVERSATION_BUSY: {
    readonly conversation: string
    readonly owner: string
    readonly expiresAt: number
  }
  /**
   * The conversation has passed to another holder: this one must stop. Nothing was written; read
   * the conversation anew.
   */
  E_STALE_RUNNER: {
    readonly conversation: string
    readonly epoch: number
    readonly current: number
  }
  /**
   * The conversation has an entry of this kind with this id. The stored entry is kept; read it back
   * instead of appending again.
   */
  E_DUPLICATE_ENTRY: { readonly conversation: string; readonly kind: string; readonly id: string }
  /** A standing approval is revoked, used up, expired or gone, so it covers no call. Ask for approval instead. */
  E_GRANT_STATE: { readonly grant: string; readonly state: string }
  /**
   * A gate is not in a state that allows the change, or is about something else. Read it with
   * `gate`: it may be decided, used or expired.
   */
  E_GATE_STATE: { readonly gate: string; readonly state: string; readonly wanted: string }
  /**
   * A call cannot be undone: its tool has no `undo`, it was undone already, or it did not take effect. The message says
   * which; a call of the same tool may put things right.
   */
  E_CANNOT_UNDO: { readonly toolCallId: string; readonly reason: string }
  /** A conversation of that name is there already. Choose another name, or delete the old one. */
  E_CONVERSATION_EXISTS: { readonly conversation: string }
  /**
   * Something handed to the store is not of the form that it takes, or too large. Correct what the
   * path names; large content goes to the spool.
   */
  E_INVALID_STORE_INPUT: { readonly path: string; readonly rule: string }
  /**
   * The conversation's key is not stored and was not given, or another one was given. Pass the
   * `conversationSecret` that its first turn had.
   */
  E_STORE_KEY: { readonly conversation: string }
  /**
   * A stored record is not what was stored. Run `verify` to see how much, then restore a backup.
   */
  E_STORE_CORRUPT: { readonly where: string; readonly reason: string }
  /**
   * The database refused: which of its reasons, in its own words. `locked` and `disconnected` are
   * worth another try; put right what the others name.
   */
  E_STORE_UNAVAILABLE: { readonly reason: StoreFailure; readonly detail: string }
  /** The database was written by a newer version of the package. Upgrade; nothing was changed. */
  E_STORE_TOO_NEW: { readonly found: number; readonly supported: number }
  /** The command line was given something it cannot use. */
  E_USAGE: { readonly command: string | undefined }
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
