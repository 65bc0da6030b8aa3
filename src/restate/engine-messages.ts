import type { RestoreContext } from '../artifacts/restore-artifact.ts'
import { BobbinError, isBobbinError } from '../core/error/error.ts'
import type { ErrorCode } from '../core/error/error-codes.ts'
import type { JsonObject, JsonValue } from '../core/json/json.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { Gate } from '../store/gate.ts'
import type { GateAnswer } from '../turn/gates/gate-answer.ts'
import type { StopReason, TurnOutcome, TurnStatus, TurnUsage } from '../turn/limits/outcome.ts'

/** What a client sends to `run`. Attachments are on the spool already. */
export interface EngineRun {
  readonly turnId: string
  /** Message, attachments and context, as text. */
  readonly body: string
  readonly output?: JsonObject
}

/** What a client sends to `resume`. */
export interface EngineResume {
  /** The conversation of the gates, if it is that of a turn inside a call. */
  readonly conversation?: string
  readonly decisions: readonly GateAnswer[]
  readonly output?: JsonObject
}

/** What a client sends to `regenerate`. */
export interface EngineRegenerate {
  readonly turnId: string
  /** Message, attachments and context, as text; the message may be empty. */
  readonly body: string
  readonly redoEffects?: boolean
  readonly output?: JsonObject
}

/** What a client sends to `undo`. */
export interface EngineUndo {
  readonly toolCallId: string
  readonly decidedBy: string
  readonly context?: JsonValue
}

/** What a client sends to `recover`. */
export interface EngineRecover {
  readonly output?: JsonObject
}

/** How a conversation stands. */
export interface AgentStatus {
  readonly conversation: string
  /** False if the store does not know it. */
  readonly exists: boolean
  /** Whether a turn holds it now. */
  readonly isRunning: boolean
  /** How many entries its log has. */
  readonly length: number
  readonly gates: readonly Gate[]
}

/** An outcome as JSON. */
export interface EngineOutcome {
  readonly status: TurnStatus
  readonly text: string
  readonly output?: JsonValue
  readonly reason?: StopReason
  readonly usage: TurnUsage
  readonly conversation: string
  readonly turnId: string
  readonly gates: readonly Gate[]
  readonly toolCalls: readonly JsonValue[]
}

/** What a handler answers: an outcome, or the error that the runner refused with. A refusal is not retried. */
export type EngineAnswer<T = EngineOutcome> =
  | { readonly given: T }
  | { readonly refused: { code: string; message: string; data: JsonValue } }

/** An outcome for the engine. */
export function engineOutcome(outcome: TurnOutcome): EngineOutcome {
  const { status, text, usage, conversation, turnId, gates } = outcome
  const toolCalls = JSON.parse(JSON.stringify(outcome.toolCalls)) as JsonValue[]
  const facts = { status, text, usage, conversation, turnId, gates, toolCalls }
  if (outcome.status !== 'completed') return { ...facts, reason: outcome.reason }
  const { output } = outcome
  return { ...facts, ...(output !== undefined && { output: output as JsonValue }) }
}

/** An outcome from the engine. Its records read their results from the given places. */
export function outcomeFrom(given: EngineOutcome, context: RestoreContext): TurnOutcome {
  const { status, output, reason, ...facts } = given
  const toolCalls = given.toolCalls.map((json) => ToolCall.fromJSON(json, context))
  if (status === 'completed') return { ...facts, status, toolCalls, output }
  return { ...facts, status, toolCalls, reason: reason as StopReason }
}

/** An error of the runner for the engine. */
function refusalOf(error: BobbinError): EngineAnswer<never> {
  const { code, message } = error
  const data = JSON.parse(JSON.stringify(error.data ?? {})) as JsonValue
  return { refused: { code, message, data } }
}

/** What a handler gave, or the runner's own error, thrown again. */
export function unwrapped(answer: unknown): unknown {
  const { given, refused } = Object(answer) as { given?: unknown; refused?: Partial<BobbinError> }
  if (refused === undefined) return given
  const { code, message = '', data } = refused
  throw new BobbinError(code as ErrorCode, message, data as never)
}

/** Failures that pass: the engine starts the handler again, which recovers. */
const PASSING: readonly string[] = [
  'E_CONVERSATION_BUSY',
  'E_STORE_UNAVAILABLE',
  'E_STALE_RUNNER',
  'E_SPOOL_READ_FAILED',
  'E_SPOOL_WRITE_FAILED',
] satisfies ErrorCode[]

export const isPassing = (code: string | undefined): boolean =>
  code !== undefined && PASSING.includes(code)

/** Runs the work of a handler: what passes is thrown, so that it is tried again; what the runner refuses is an answer. */
export async function answered<T>(work: () => Promise<T>): Promise<EngineAnswer<T>> {
  try {
    return { given: await work() }
  } catch (error) {
    if (isBobbinError(error) && !isPassing(error.code)) return refusalOf(error)
    throw error
  }
}
