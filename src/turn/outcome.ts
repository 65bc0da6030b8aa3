import { isBobbinError } from '../core/error.ts'
import type { ErrorCode } from '../core/error-codes.ts'
import type { Usage } from '../model/model-event.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { Gate } from '../store/gate.ts'
import { errorText } from './error-text.ts'

/** How a turn ended. */
export type TurnStatus = 'completed' | 'stopped' | 'suspended' | 'aborted' | 'failed'

/** Why a turn did not complete, as a code for programs and a sentence for people. */
export interface StopReason {
  readonly code: StopCode
  readonly message: string
  /** The code of the error behind a failure, e.g. `E_PROVIDER_RATE_LIMITED`; the event `error` has its `data`. */
  readonly errorCode?: ErrorCode
}

export type StopCode =
  | 'MAX_ITERATIONS'
  | 'MAX_CALLS'
  | 'MAX_TIME'
  | 'BUDGET'
  | 'REPEATED_CALL'
  | 'GATE'
  | 'ABORTED'
  | 'MODEL_STOPPED'
  | 'MODEL_FAILED'
  | 'EXECUTOR_FAILED'
  | 'STORE_FAILED'
  | 'NOTHING_LEFT'
  | 'OUTPUT_REJECTED'
  | 'MIDDLEWARE'

/** What a turn cost: its own model calls and those of all sub-agents that ran in it. */
export interface TurnUsage extends Usage {
  /** How much of it sub-agents cost; absent when they cost nothing. */
  readonly nested?: Usage
}

/** What a turn gives back, whatever happened in it. */
export interface TurnOutcome<Output = unknown> {
  readonly status: TurnStatus
  /** The answer; empty when there is none. */
  readonly text: string
  /** The answer as the `output` schema gives it. */
  readonly output: Output | undefined
  /** Every call of the turn, settled, in the order asked. */
  readonly toolCalls: readonly ToolCall[]
  readonly usage: TurnUsage
  readonly conversation: string
  readonly turnId: string
  /** What somebody must decide before the turn goes on. */
  readonly gates: readonly Gate[]
  /** There unless the turn completed. */
  readonly reason?: StopReason
}

/** Why the dispatch ended. */
export interface DispatchEnd {
  readonly status: TurnStatus
  readonly text: string
  readonly reason?: StopReason
}

/** The end of a turn that stopped itself. */
export const stopped = (reason: StopReason, text = ''): DispatchEnd => ({
  status: 'stopped',
  text,
  reason,
})

/** The end of a turn in which something broke. */
export const failed = (reason: StopReason): DispatchEnd => ({ status: 'failed', text: '', reason })

/** Why something broke: a sentence, and the code of the error where it has one. */
export const failure = (code: StopCode, error: unknown, message = errorText(error)): StopReason =>
  isBobbinError(error) ? { code, message, errorCode: error.code } : { code, message }

/** The end of a turn that cannot go on by itself. */
export const SUSPENDED: DispatchEnd = {
  status: 'suspended',
  text: '',
  reason: {
    code: 'GATE',
    message: 'The turn waits for a decision: answer `outcome.gates` with `runner.resume`.',
  },
}
