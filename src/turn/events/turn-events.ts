import type { JsonValue } from '../../core/json/json.ts'
import type { Usage } from '../../model/events/model-event.ts'
import type { Repair } from '../../model/wire/encode-groups.ts'
import type { BudgetReport } from '../../prompt/budget-report.ts'
import type { TurnToolCallContent } from '../../records/turn-tool-call-content.ts'
import type { Summary } from '../../store/entry.ts'
import type { Gate, GateVerdict } from '../../store/gate.ts'
import type {
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
} from '../../tools/execution-events.ts'
import type { TurnStatus, TurnUsage } from '../limits/outcome.ts'

/** The turn that an event belongs to; every listener gets it as its second argument. */
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

/** Arguments while they stream. They have no checksum and are not a call yet. */
export interface TurnToolInputContent {
  readonly id: string
  readonly tool: string
  readonly delta: string
}

/** The events of `runner.on`: the turn's content, as it is produced. */
export interface FunctionalEvents {
  message: TurnTextContent
  thought: TurnTextContent
  toolInput: TurnToolInputContent
  toolCall: TurnToolCallContent
}

/** The events of `runner.observe`: for watching only. Removing every observer changes nothing. */
export interface ObservedEvents {
  turnStart: { readonly startedAt: number }
  /** Its `usage` is the outcome's: it includes that of sub-agents, which have a `turnEnd` of their own too. */
  turnEnd: {
    readonly status: TurnStatus
    readonly durationMs: number
    readonly usage: TurnUsage
  }
  dispatchStart: { readonly tools: readonly string[] }
  dispatchEnd: { readonly iterations: number }
  iterationStart: { readonly iteration: number }
  /** With the usage of this one model call, if the model reported it; sub-agents report theirs themselves. */
  iterationEnd: { readonly iteration: number; readonly calls: number; readonly usage?: Usage }
  toolExecutionStart: ToolExecutionStartEvent
  toolExecutionEnd: ToolExecutionEndEvent
  toolProgress: { readonly toolCallId: string; readonly tool: string; readonly update: JsonValue }
  gateOpened: Gate
  gateDecided: { readonly gate: Gate; readonly decision: GateVerdict; readonly decidedBy: string }
  budget: BudgetReport
  /** The beginning of the history was replaced by this. */
  summary: Summary
  /** A part of the history that the model's protocol refuses, and how the next request repairs it. Emitted once. */
  historyRepair: Repair
  warning: { readonly code: WarningCode; readonly message: string; readonly toolCallId?: string }
  /** The thrown value. If one call threw it, as a handler does, `toolCallId` names that call. */
  error: { readonly error: unknown; readonly where: ErrorPlace; readonly toolCallId?: string }
}

/**
 * The kinds of warnings. `PREFIX_BROKEN`: a request does not begin with the one before, and no known cause explains it.
 * `THINKING_LEFT_OUT`: the model's own reasoning is no longer sent, because the provider would refuse it.
 */
export type WarningCode =
  | 'COMPACTION_FAILED'
  | 'IN_DOUBT'
  | 'MODEL_FALLBACK'
  | 'LATE_RESULT'
  | 'MODEL_RETRY'
  | 'OUTPUT_CORRECTION'
  | 'PREFIX_BROKEN'
  | 'RESULT_TOO_LARGE'
  | 'THINKING_LEFT_OUT'
  | 'UNDECLARED_EFFECT'

/** What failed: a part of the turn, or a listener of the event with this name. */
export type ErrorPlace =
  | 'open'
  | 'turn'
  | 'turn-end'
  | 'middleware'
  | 'admission'
  | 'approve'
  | 'subject'
  | 'handler'
  | 'output'
  | 'record'
  | 'read'
  | 'inline'
  | 'reconcile'
  | 'abandon'
  | 'summarise'
  | keyof FunctionalEvents
  | Exclude<keyof ObservedEvents, 'error'>

/** The events that `runner.on` takes. */
export type FunctionalEventName = keyof FunctionalEvents
/** The events that `runner.observe` takes. */
export type ObservedEventName = keyof ObservedEvents
