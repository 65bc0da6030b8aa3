import { isBobbinError } from '../../core/error/error.ts'
import type { ErrorCode } from '../../core/error/error-codes.ts'
import type { Usage } from '../../model/events/model-event.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { Gate } from '../../store/gate.ts'
import { errorText } from './failure.ts'

/** How a turn ended that gave no answer: a limit, a gate, an abort or an error ended it. */
export type UnfinishedStatus = 'stopped' | 'suspended' | 'aborted' | 'failed'

/** How a turn ended. */
export type TurnStatus = 'completed' | UnfinishedStatus

/** Why a turn did not complete, as a code for programs and a sentence for people. */
export interface StopReason {
  readonly code: StopCode
  readonly message: string
  /** The code of the error that caused a failure, e.g. `E_PROVIDER_RATE_LIMITED`; the event `error` has its `data`. */
  readonly errorCode?: ErrorCode
}

/** Why a turn did not complete. */
export type StopCode =
  | 'MAX_ITERATIONS'
  | 'MAX_CALLS'
  | 'MAX_TIME'
  | 'MAX_TOKENS'
  | 'MAX_COST'
  | 'BUDGET'
  | 'REPEATED_CALL'
  | 'GATE'
  | 'ABORTED'
  | 'MODEL_STOPPED'
  | 'MODEL_FAILED'
  | 'TOO_MANY_CALLS'
  | 'EXECUTOR_FAILED'
  | 'STORE_FAILED'
  | 'NOTHING_LEFT'
  | 'OUTPUT_REJECTED'
  | 'MIDDLEWARE'

/** The cost of a turn: its own model calls and those of all its sub-agents. */
export interface TurnUsage extends Usage {
  /** In the currency of the runner's `prices`; absent without prices. */
  readonly cost?: number
  /** The part that sub-agents cost; absent when they cost nothing. */
  readonly nested?: Usage & { readonly cost?: number }
}

/** What every outcome of a turn has. */
export interface TurnFacts {
  /** The answer, or an empty text. */
  readonly text: string
  /** Every call of the turn, settled, in the order asked. */
  readonly toolCalls: readonly ToolCall[]
  readonly usage: TurnUsage
  readonly conversation: string
  readonly turnId: string
  /** The gates that must be answered before the turn can continue. */
  readonly gates: readonly Gate[]
  /** The agent that is active now, where the runner has several. */
  readonly agent?: string
}

/** The outcome of a turn that gave an answer. */
export interface CompletedTurn<Output = unknown> extends TurnFacts {
  readonly status: 'completed'
  /** The answer as the `output` schema gives it; `undefined` for a turn without one. */
  readonly output: Output
  readonly reason?: undefined
}

/** The outcome of a turn that did not complete. */
export interface UnfinishedTurn extends TurnFacts {
  readonly status: UnfinishedStatus
  readonly reason: StopReason
  readonly output?: undefined
}

/** What a turn gives back: compare `status` to know whether it has an `output` or a `reason`. */
export type TurnOutcome<Output = unknown> = CompletedTurn<Output> | UnfinishedTurn

/** How the work of a turn ended; the outcome adds what the turn did. */
export type DispatchEnd =
  | (Pick<CompletedTurn, 'status' | 'text' | 'reason'> & { readonly output?: unknown })
  | UnfinishedEnd

/** How the work of a turn ended that gave no answer. */
export type UnfinishedEnd = Pick<UnfinishedTurn, 'status' | 'text' | 'reason' | 'output'>

/** The end of a turn that stopped itself. */
export const stopped = (reason: StopReason, text = ''): UnfinishedEnd => ({
  status: 'stopped',
  text,
  reason,
})

/** The end of a turn that failed. */
export const failed = (reason: StopReason): UnfinishedEnd => ({
  status: 'failed',
  text: '',
  reason,
})

/** The reason of a failure: a sentence, and the code of the error if it has one. */
export const failure = (code: StopCode, error: unknown, message = errorText(error)): StopReason =>
  isBobbinError(error) ? { code, message, errorCode: error.code } : { code, message }

/** The end of a turn that waits for a decision. */
export const SUSPENDED: UnfinishedEnd = {
  status: 'suspended',
  text: '',
  reason: {
    code: 'GATE',
    message: 'The turn waits for a decision: answer `outcome.gates` with `runner.resume`.',
  },
}
