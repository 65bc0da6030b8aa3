import type { DateTime } from 'luxon'
import type { ApprovedBy } from './approved-by.ts'
import type { PlacedMedia } from './placed-media.ts'
import type { Settlement } from './tool-call.ts'

/**
 * A call in the stream: announced when the model asks for it, and sent again under the same `id`, with `results`,
 * when it has settled.
 */
export interface TurnToolCallContent {
  /** The record's id: ties the announcement to the completion. */
  readonly id: string
  readonly tool: string
  /** On the announcement: the id of the `toolInput` events that brought the arguments, if they streamed. */
  readonly inputId?: string
  /** The arguments as the model supplied them. */
  readonly args: unknown
  /** Equal to `ToolCall.checksum` and to `callId` of the execution events; identical calls share it. */
  readonly checksum: string
  /** Artifacts or media of a tool, the raw string of an artifact tool, or the error's detail; see `resultText`. */
  readonly results?: unknown
  /** Media of a result that also has text, each with its place in it. */
  readonly media?: readonly PlacedMedia[]
  readonly isComplete: boolean
  readonly isError: boolean
  /** How the call ended, once it has: tells a refusal, a denial and a failure apart. */
  readonly settlement?: Settlement
  /** What allowed it, if it needed approval. */
  readonly approvedBy?: ApprovedBy
  readonly createdAt: DateTime
  readonly updatedAt: DateTime
  readonly completedAt?: DateTime
}
