import type { JsonValue } from '../../core/json/json.ts'
import type { MessageRole } from '../../records/message.ts'
import type { TurnToolCallContent } from '../../records/turn-tool-call-content.ts'
import type { Media } from '../../spool/media.ts'
import type { ModelCall, StoredUsage, Summary, TurnEnd } from '../entry.ts'
import type { Gate } from '../gate.ts'

/** One thing that happened in a conversation. Everything in a conversation has one order. */
export type FeedEvent = FeedStamp & FeedContent

/** What every feed event has. */
export interface FeedStamp {
  /** `<seq>.<n>`: `n` is 0 for what is stored, and counts what streams in between. Compare with `comparePositions`. */
  readonly position: string
  /** Epoch milliseconds. */
  readonly time: number
  readonly turnId: string
  readonly conversation: string
}

/** What a feed event says, by its `type`. */
export type FeedContent =
  | FeedTurnStart
  | FeedTurnEnd
  | FeedMessage
  | FeedThought
  | FeedToolInput
  | FeedToolCall
  | FeedProgress
  | FeedGateOpened
  | FeedGateDecided
  | FeedModelCall
  | FeedSummary
  | FeedRewind
  | FeedWarning

/** A turn began. */
export interface FeedTurnStart {
  readonly type: 'turnStart'
  readonly input: 'run' | 'resume' | 'recover' | 'undo'
  /** The first turn of the chain that this one continues. */
  readonly continues?: string
}

/** A turn ended. */
export interface FeedTurnEnd {
  readonly type: 'turnEnd'
  readonly status: TurnEnd['status']
  readonly reason?: NonNullable<TurnEnd['reason']>
  readonly usage?: StoredUsage
}

/** A piece of a text while it streams. */
interface Piece {
  readonly id: string
  readonly delta: string
  /** The model call that writes it. */
  readonly modelCall?: string
  readonly text?: undefined
  readonly isComplete?: undefined
}

/** A text so far: it replaces what was shown under its id. */
interface Snapshot {
  readonly id: string
  readonly text: string
  readonly isComplete: false
  readonly modelCall?: string
  readonly delta?: undefined
}

/** A text as it is stored, under the id that it streamed under: it replaces its pieces. */
interface Whole {
  readonly id: string
  readonly text: string
  readonly isComplete: true
  /** The model call that wrote it; the user's own message has none. */
  readonly modelCall?: string
  readonly delta?: undefined
}

/** What a person or the model says: a piece, a snapshot, or the whole. */
export type FeedMessage =
  | ({ readonly type: 'message' } & Piece)
  | ({ readonly type: 'message' } & Snapshot)
  | FeedStoredMessage

/** A stored message. */
export interface FeedStoredMessage extends Whole {
  readonly type: 'message'
  readonly role: MessageRole
  /** Set on text that was cut off: the turn was stopped, or failed. */
  readonly partial?: true
  readonly attachments?: readonly Media[]
}

/** The model's reasoning: a piece, a snapshot, or the whole. */
export type FeedThought = { readonly type: 'thought' } & (Piece | Snapshot | Whole)

/** Arguments while they stream: a piece or a snapshot. The announcement of their call names them by `inputId`. */
export type FeedToolInput = { readonly type: 'toolInput'; readonly tool: string } & (
  | Piece
  | Snapshot
)

/** A call: its announcement, and its completion under the same `id`. */
export interface FeedToolCall extends TurnToolCallContent {
  readonly type: 'toolCall'
  /** On the announcement: the model call that asked for it. */
  readonly modelCall?: string
}

/** What a handler reports while it runs. */
export interface FeedProgress {
  readonly type: 'progress'
  readonly toolCallId: string
  readonly tool: string
  readonly update: JsonValue
}

/** A gate that waits for its decision. */
export interface FeedGateOpened {
  readonly type: 'gateOpened'
  readonly gate: Gate
}

/** A gate was left: its decision was used, or it was abandoned or has expired; see `gate.state`. */
export interface FeedGateDecided {
  readonly type: 'gateDecided'
  readonly gate: Gate
  /** Absent without a decision. */
  readonly decidedBy?: string
}

/** One request to a model. */
export interface FeedModelCall extends ModelCall {
  readonly type: 'modelCall'
}

/** From now on, requests show a summary in place of the beginning of the conversation. */
export interface FeedSummary extends Summary {
  readonly type: 'summary'
}

/** What stands from a message on no longer counts: the turn that says so asks again. */
export interface FeedRewind {
  readonly type: 'rewind'
  /** The first turn of the chain that the message belongs to. */
  readonly toTurnId: string
  /** The id of the first message that no longer counts. */
  readonly message: string
}

/** Something that an operator should know. */
export interface FeedWarning {
  readonly type: 'warning'
  readonly code: string
  readonly message: string
  readonly toolCallId?: string
}
