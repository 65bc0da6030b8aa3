/** A conversation as stored. */
export interface ConversationRow {
  readonly id: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly epoch: number
  readonly owner: string
  readonly leaseUntil: number
  /** The last `seq`. */
  readonly length: number
  /** The `seq` of the last turn end, and its seal; 0 and empty before the first. */
  readonly sealedSeq: number
  readonly seal: string
  /** Null when only the application knows the key. */
  readonly key: Uint8Array | null
  /** Tells a right key from a wrong one. */
  readonly keyCheck: string
  /** What the application said about it, as canonical JSON of an object. */
  readonly meta: string
  /** The conversation in whose call its first turn ran. */
  readonly parent: string | null
  /** The active agent; null in a conversation without agents. */
  readonly agent: string | null
  /** In a fork, the key of its envelopes under the key of the conversation. Null: they have a key of their own. */
  readonly envelope: Uint8Array | null
  /** In a fork, where it comes from, as canonical JSON of a `ForkOrigin`. */
  readonly origin: string | null
}

/** What it takes to read an entry back. */
export interface EntryText {
  readonly seq: number
  readonly digest: string
  readonly seal: string | null
  /** The whole entry as canonical JSON. */
  readonly body: string
}

/** An entry as stored: all of it is in `body`, the columns are for searching. */
export interface EntryRow extends EntryText {
  readonly kind: string
  readonly turn: string
  readonly id: string | null
  readonly tool: string | null
  readonly checksum: string | null
  readonly settlement: string | null
  readonly time: number
}

/** An entry that a search found. */
export interface FoundText extends EntryText {
  readonly conversation: string
  /** Grows with every entry: of the conversation if the filter names one, of the store otherwise. */
  readonly position: number
}

/** A gate as stored: all of it is in `body`. */
export interface GateRow {
  readonly conversation: string
  readonly id: string
  readonly state: string
  readonly digest: string
  readonly body: string
}

/** A standing approval as stored: all of it is in `body`, the columns are for finding the one that covers a call. */
export interface GrantRow {
  readonly id: string
  /** The conversation in which it was given, and with which it is deleted. */
  readonly conversation: string
  /** Whom it holds for. */
  readonly scope: string
  readonly tool: string
  /** Which members of the arguments it fixes. */
  readonly shape: string
  /** Digest of the tool's definition and of these members. */
  readonly pattern: string
  /** `over` when it is revoked or used up. */
  readonly state: 'live' | 'over'
  readonly expiresAt: number | null
  readonly digest: string
  readonly body: string
}

/** A small result. */
export interface BlobRow {
  readonly digest: string
  readonly bytes: Uint8Array
}
