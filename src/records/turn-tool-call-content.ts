import type { DateTime } from 'luxon'
import type { Settlement } from './tool-call.ts'

/**
 * A call as the stream tells of it: announced once when it is asked for, told again under the same
 * `id` with `results` when it has settled.
 */
export interface TurnToolCallContent {
  /** The record's id: ties the announcement to the completion. */
  readonly id: string
  readonly tool: string
  /** The arguments as the model supplied them. */
  readonly args: unknown
  /** Equal to `ToolCall.checksum` and to `callId` of the execution events; identical calls share it. */
  readonly checksum: string
  /** Artifacts or media of a tool, the raw string of an artifact tool, or the error's detail. */
  readonly results?: unknown
  readonly isComplete: boolean
  readonly isError: boolean
  /** How the call ended, once it has: tells a refusal, a denial and a failure apart. */
  readonly settlement?: Settlement
  readonly createdAt: DateTime
  readonly updatedAt: DateTime
  readonly completedAt?: DateTime
}
