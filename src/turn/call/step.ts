import type { Intent } from '../../store/entry.ts'
import type { Gate, GateRequest } from '../../store/gate.ts'
import type { Tool } from '../../tools/tool.ts'
import type { GivenInput } from '../../tools/tool-context.ts'
import type { StopReason } from '../limits/outcome.ts'
import type { AskedCall } from '../log/call-state.ts'
import type { Fact } from '../log/fact.ts'
import type { LeftInside } from './inner-turn.ts'

/** The next step of a call: its `facts` become durable, then it is carried out. */
export type NextStep = EndStep | WaitStep | RunStep | RestStep

/** The call ends without running: its settlement is among the facts. */
export interface EndStep {
  readonly do: 'end'
  readonly call: AskedCall
  readonly facts: readonly Fact[]
  /** Stops the turn after this response. */
  readonly stop?: StopReason
  readonly left?: LeftInside
}

/** The call waits for a decision: by `approve` in this process, or by `resume` later. */
export interface WaitStep {
  readonly do: 'wait'
  readonly call: AskedCall
  readonly facts: readonly Fact[]
  readonly gate: GateRequest
  /** The tool and the validated arguments, when the gate was opened by this process. */
  readonly ready?: ReadyCall
}

/** The call runs. */
export interface RunStep extends ReadyCall {
  readonly do: 'run'
  readonly call: AskedCall
  readonly facts: readonly Fact[]
  readonly intent: Intent
  /** The decision that allows it. */
  readonly gate?: Gate
  /** What the call does instead, if the standing approval that it relies on ends before it is used. */
  readonly instead?: WaitStep
  /** The answer of a person to what the handler asked. */
  readonly input?: GivenInput
  /** True when the intent is stored together with the settlement: a `read` may run twice. */
  readonly isIntentLate?: boolean
  /** True when an earlier attempt may have taken effect: the call must not end as "not run". */
  readonly mayHaveRun?: boolean
  readonly left?: LeftInside
  /** The report about an external call: no handler runs. */
  readonly given?: GivenResult
}

/** The report about an external call, by the program or person that executed it. */
export interface GivenResult {
  readonly reported: { readonly output: unknown } | { readonly error: string }
  /** Stored together with the settlement, so that no report is lost: closes the gate. */
  readonly closing: Fact
  /** The record in doubt that it settles. */
  readonly supersedes?: string
}

/** The call stays as it is: it needs a decision from outside this process. */
export interface RestStep {
  readonly do: 'rest'
  readonly facts: readonly Fact[]
  /** The call whose approval these facts use. */
  readonly approved?: { readonly call: AskedCall; readonly gate: Gate }
  /** What the call does instead, if the standing approval that it relies on ends before it is used. */
  readonly instead?: WaitStep
}

/** A tool, and the validated arguments for its handler. */
export interface ReadyCall {
  readonly tool: Tool
  readonly value: unknown
  /** A note that the model reads with the result. */
  readonly note?: string | undefined
}

export const REST: RestStep = { do: 'rest', facts: [] }
