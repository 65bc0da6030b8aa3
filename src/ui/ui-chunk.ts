import type { JsonObject, JsonValue } from '../core/json/json.ts'
import type { Gate } from '../store/gate.ts'
import type { UiResult } from './ui-result.ts'

/** What this package adds to parts that the protocol defines. */
interface Marks {
  readonly providerMetadata?: { readonly bobbin: JsonObject }
}

/** One chunk of the UI message stream of the AI SDK: those that `uiMessageResponse` sends. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId?: string; readonly messageMetadata?: JsonObject }
  | { readonly type: 'message-metadata'; readonly messageMetadata: JsonObject }
  | { readonly type: 'start-step' }
  | { readonly type: 'finish-step' }
  | { readonly type: 'reset-step' }
  | UiTextChunk
  | UiToolChunk
  | UiDataChunk
  | {
      readonly type: 'steering-message'
      readonly id: string
      readonly parts: readonly { readonly type: 'text'; readonly text: string }[]
    }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason?: string }
  | {
      readonly type: 'finish'
      readonly finishReason: 'stop' | 'tool-calls' | 'other'
      readonly messageMetadata: JsonObject
    }

/** Text or reasoning: its start, a piece, its end. */
export type UiTextChunk =
  | ({ readonly type: 'text-start' | 'text-end'; readonly id: string } & Marks)
  | ({ readonly type: 'reasoning-start' | 'reasoning-end'; readonly id: string } & Marks)
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }

/** A call, from its first streamed argument to its output. Every tool counts as dynamic: pages need no types of it. */
export type UiToolChunk =
  | {
      readonly type: 'tool-input-start'
      readonly toolCallId: string
      readonly toolName: string
      readonly dynamic: true
    }
  | {
      readonly type: 'tool-input-delta'
      readonly toolCallId: string
      readonly inputTextDelta: string
    }
  | ({
      readonly type: 'tool-input-available'
      readonly toolCallId: string
      readonly toolName: string
      readonly input: unknown
      readonly dynamic: true
    } & Marks)
  | {
      readonly type: 'tool-input-error'
      readonly toolCallId: string
      readonly toolName: string
      readonly input: unknown
      readonly dynamic: true
      readonly errorText: string
    }
  | {
      readonly type: 'tool-approval-request'
      readonly approvalId: string
      readonly toolCallId: string
    }
  | {
      readonly type: 'tool-output-available'
      readonly toolCallId: string
      readonly output: unknown
      readonly dynamic: true
      readonly preliminary?: true
    }
  | {
      readonly type: 'tool-output-error'
      readonly toolCallId: string
      readonly errorText: string
      readonly dynamic: true
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }

/** A part that the protocol leaves to the application. */
export type UiDataChunk =
  | { readonly type: 'data-gate'; readonly id: string; readonly data: UiGate }
  | { readonly type: 'data-handle'; readonly id: string; readonly data: UiHandle }
  | { readonly type: 'data-settled'; readonly id: string; readonly data: UiSettled }
  | { readonly type: 'data-steering-message'; readonly id: string; readonly data: UiSteering }
  | { readonly type: 'data-warning'; readonly data: UiWarning; readonly transient: true }

/** A gate as a page shows it. */
export interface UiGate
  extends Pick<Gate, 'id' | 'kind' | 'why' | 'state' | 'digest' | 'expiresAt'> {
  readonly toolCallId?: string
  readonly tool?: string
  readonly args?: JsonValue
  /** What a tool asks the person. */
  readonly message?: string
  /** JSON Schema of the value that it asks for. */
  readonly schema?: JsonValue
  /** What to open, if the gate asks for that. */
  readonly url?: string
  readonly verdict?: string
  readonly decidedBy?: string
}

/** A result that is too large for the stream: what it is, and how to ask for it. */
export interface UiHandle {
  readonly toolCallId: string
  /** `ToolCall.id` in the store. */
  readonly callId: string
  readonly result: UiResult
}

/** The end of a call that an earlier message shows, as when a new message abandons an approval. */
export interface UiSettled {
  readonly toolCallId: string
  readonly callId: string
  readonly settlement: string
  readonly text: string
}

/** A message of the user that came while the turn ran. */
export interface UiSteering {
  readonly text: string
}

/** A problem that did not end the turn, such as a retry. */
export interface UiWarning {
  readonly code: string
  readonly message: string
}
