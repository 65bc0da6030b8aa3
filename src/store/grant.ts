import type { JsonObject, PlainObject } from '../core/json/json.ts'

/** What a person grants beside an approval: the same again, without being asked. */
export interface GrantRequest {
  /** Calls of this conversation and its sub-agents, or of every turn with the same subject. */
  readonly for: 'conversation' | 'subject'
  /**
   * Members that the effective arguments must have, each with an equal value; `{}` covers any arguments. Exactly the
   * approved arguments unless given.
   */
  readonly args?: PlainObject
  /** Epoch milliseconds; without an end unless given. */
  readonly until?: number
  /** How many later calls it covers; any number unless given. */
  readonly uses?: number
  /** Covers writes of a conversation that has seen a stranger's text, too. */
  readonly tainted?: boolean
}

/** A grant as it is given to the store, with the decision that it belongs to. */
export interface NewGrant extends GrantRequest {
  /** Random unless given. */
  readonly id?: string
  /** Whom it holds for; with `for: 'subject'` only. */
  readonly subject?: string
  /** Where it holds; with `for: 'conversation'` only. The conversation of the decision unless given. */
  readonly conversation?: string
}

/** A grant as a decision on a gate records it. */
export interface GivenGrant extends GrantRequest {
  readonly id: string
  readonly args?: JsonObject
  readonly subject?: string
  readonly conversation?: string
}

/** A standing approval: a row in the store. Calls that fit it run without asking. */
export interface Grant {
  readonly id: string
  readonly tool: string
  /** Digest of the tool's definition: a changed definition voids the grant. */
  readonly definition: string
  /** What the effective arguments must be, or must have. */
  readonly args: JsonObject
  /** True if the effective arguments must be exactly `args`; members beside them are not covered then. */
  readonly exact?: true
  readonly for: 'conversation' | 'subject'
  readonly subject?: string
  readonly conversation?: string
  readonly decidedBy: string
  readonly createdAt: number
  readonly expiresAt?: number
  readonly uses?: number
  /** How many calls it has covered. */
  readonly used: number
  /** Whether it covers writes of a conversation that has seen a stranger's text. */
  readonly tainted: boolean
  readonly revokedAt?: number
  readonly revokedBy?: string
  /** The gate whose decision gave it. */
  readonly given: { readonly conversation: string; readonly gate: string }
}

/** Which grants to list; every member that is given must match. */
export interface GrantQuery {
  readonly subject?: string
  /** The conversation that it holds for. */
  readonly conversation?: string
  readonly tool?: string
  /** The id of the last grant of the page before. */
  readonly after?: string
  /** 1,000 unless given, which is the most. */
  readonly limit?: number
}

/** A call that waits for approval, and where it was asked for. */
export interface CoverQuery {
  readonly tool: string
  readonly definition: string
  /** The effective arguments. */
  readonly args: JsonObject
  /** Whether the call waits because of what the conversation has seen. */
  readonly tainted: boolean
  /** The conversation, and those of the turns around it. */
  readonly conversations: readonly string[]
  readonly subject?: string
}
