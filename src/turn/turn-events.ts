import type { JsonValue } from '../core/json.ts'
import type { Repair } from '../model/encoder.ts'
import type { Usage } from '../model/model-event.ts'
import type { BudgetReport } from '../prompt/budget-report.ts'
import type { TurnToolCallContent } from '../records/turn-tool-call-content.ts'
import type { Gate, GateVerdict } from '../store/gate.ts'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from '../tools/execution-events.ts'
import type { TurnStatus, TurnUsage } from './outcome.ts'

/** Where an event belongs; every listener gets it as its second argument. */
export interface EventOrigin {
  readonly turnId: string
  readonly conversation: string
}

/** A piece of the answer, or of the reasoning, as it is written. */
export interface TurnTextContent {
  /** Tells the pieces of one text from those of another. */
  readonly id: string
  readonly delta: string
}

/** Arguments while they stream: half an argument has no checksum and is no call yet. */
export interface TurnToolInputContent {
  readonly id: string
  readonly tool: string
  readonly delta: string
}

/** What the application acts on: the turn's content as it comes into being. */
export interface FunctionalEvents {
  message: TurnTextContent
  thought: TurnTextContent
  toolInput: TurnToolInputContent
  toolCall: TurnToolCallContent
}

/** What watching needs and working does not: removing every observer changes nothing. */
export interface ObservedEvents {
  turnStart: { readonly startedAt: number }
  /** Its `usage` is the outcome's: that of sub-agents, which end with an event of their own, is in it. */
  turnEnd: {
    readonly status: TurnStatus
    readonly durationMs: number
    readonly usage: TurnUsage
  }
  dispatchStart: { readonly tools: readonly string[] }
  dispatchEnd: { readonly iterations: number }
  iterationStart: { readonly iteration: number }
  /** With what this one model call cost, where the model told; sub-agents tell of theirs themselves. */
  iterationEnd: { readonly iteration: number; readonly calls: number; readonly usage?: Usage }
  toolExecutionStart: ToolExecutionStartEvent
  toolExecutionEnd: ToolExecutionEndEvent
  toolProgress: { readonly toolCallId: string; readonly tool: string; readonly update: JsonValue }
  gateOpened: Gate
  gateDecided: { readonly gate: Gate; readonly decision: GateVerdict; readonly decidedBy: string }
  budget: BudgetReport
  /** What a model's protocol would not take as it is: told once, before the request that mends it. */
  historyRepair: Repair
  warning: { readonly code: WarningCode; readonly message: string; readonly toolCallId?: string }
  error: { readonly error: unknown; readonly where: ErrorPlace }
}

/** What an observer is warned of. */
export type WarningCode = 'IN_DOUBT' | 'LATE_RESULT' | 'MODEL_RETRY' | 'UNDECLARED_EFFECT'

/** What failed: a part of the turn, or a listener of the event that has this name. */
export type ErrorPlace =
  | 'open'
  | 'turn'
  | 'turn-end'
  | 'middleware'
  | 'admission'
  | 'approve'
  | 'record'
  | 'read'
  | 'inline'
  | 'reconcile'
  | 'abandon'
  | keyof FunctionalEvents
  | Exclude<keyof ObservedEvents, 'error'>

export type FunctionalEventName = keyof FunctionalEvents
export type ObservedEventName = keyof ObservedEvents
