import { lowerTrust, type TrustTier } from '../core/trust.ts'
import type { Settlement } from '../records/tool-call.ts'
import type { GateCause, GateRequest } from '../store/gate.ts'
import { type Admission, admit } from './admission.ts'
import type { AdmittedCall } from './admitted-call.ts'
import type { AskedCall } from './asked-call.ts'
import { errorText } from './error-text.ts'
import { gateRequest, needsGate } from './gates.ts'
import { intentOf } from './intent.ts'
import { tooManyCalls } from './limits.ts'
import type { StopReason } from './outcome.ts'
import type { Turn } from './turn.ts'

/** What is to become of a call: it ends without running, runs, or waits for a decision. */
export type Plan = EndPlan | RunPlan | GatePlan

interface EndPlan {
  readonly kind: 'end'
  readonly asked: AskedCall
  readonly settlement: Settlement
  readonly text: string
  /** Why the turn stops behind this batch, if so. */
  readonly stop?: StopReason
}

interface RunPlan {
  readonly kind: 'run'
  readonly asked: AskedCall
  readonly admitted: AdmittedCall
}

export interface GatePlan {
  readonly kind: 'gate'
  readonly asked: AskedCall
  readonly gate: GateRequest
  readonly admitted: AdmittedCall
}

/** What is to become of the calls of a response, and why the turn stops behind them, if so. */
export interface BatchPlan {
  readonly plans: readonly Plan[]
  readonly stop: StopReason | undefined
}

const NO_PLANS: BatchPlan = { plans: [], stop: undefined }

/** Decides on every call of a response, in the order asked. What is refused is planned like the rest. */
export function planCalls(turn: Turn, calls: readonly AskedCall[]): BatchPlan | Promise<BatchPlan> {
  return calls.length === 0 ? NO_PLANS : new Planning(turn, calls).from(0)
}

/** Plans one call after the other, and waits only where one has to be waited for. */
class Planning {
  readonly #turn: Turn
  readonly #calls: readonly AskedCall[]
  #plans: Plan[] = []
  #stop: StopReason | undefined
  /** What earlier calls of the same response bring counts: they may have run before the later ones. */
  #taint: TrustTier

  constructor(turn: Turn, calls: readonly AskedCall[]) {
    this.#turn = turn
    this.#calls = calls
    this.#taint = turn.conversation.taint
  }

  from(index: number): BatchPlan | Promise<BatchPlan> {
    for (let at = index; at < this.#calls.length; at++) {
      const planned = this.#plan(this.#calls[at] as AskedCall)
      if (planned instanceof Promise) {
        return planned.then((plan) => {
          this.#take(plan)
          return this.from(at + 1)
        })
      }
      this.#take(planned)
    }
    return { plans: this.#plans, stop: this.#stop }
  }

  #plan(asked: AskedCall): Plan | Promise<Plan> {
    const turn = this.#turn
    const { maxCalls } = turn.settings.limits
    const isFull = turn.order.length + this.#plans.length >= maxCalls
    if (this.#stop === undefined && isFull) this.#stop = tooManyCalls(maxCalls)
    return this.#stop === undefined
      ? planSafely(turn, asked, this.#taint)
      : end(asked, 'refused', 'The turn was stopped before this call; it was not run.')
  }

  #take(plan: Plan): void {
    // Most responses have one, and a list that grows has room for seventeen.
    if (this.#plans.length === 0) this.#plans = [plan]
    else this.#plans.push(plan)
    if (plan.kind === 'end') this.#stop ??= plan.stop
    else this.#taint = lowerTrust(this.#taint, plan.admitted.tool.trust)
  }
}

/** Schemas and policies hold code of the application: what they throw refuses the call. */
function planSafely(turn: Turn, asked: AskedCall, taint: TrustTier): Plan | Promise<Plan> {
  try {
    turn.signal.throwIfAborted()
    const plan = planCall(turn, asked, taint)
    if (!(plan instanceof Promise)) {
      turn.signal.throwIfAborted()
      return plan
    }
    return turn.interruption.watch
      .orAborted(plan)
      .catch((error: unknown) => unplanned(turn, asked, error))
  } catch (error) {
    return unplanned(turn, asked, error)
  }
}

function unplanned(turn: Turn, asked: AskedCall, error: unknown): Plan {
  if (turn.signal.aborted) {
    return end(asked, 'aborted', 'The turn was aborted before this call; it was not run.')
  }
  turn.observed.emit('error', { error, where: 'admission' }, turn.origin)
  return end(asked, 'refused', `Refused: the call could not be checked (${errorText(error)}).`)
}

function planCall(turn: Turn, asked: AskedCall, taint: TrustTier): Plan | Promise<Plan> {
  if (asked.unfinished !== undefined) return planUnfinished(turn, asked, asked.unfinished)
  const admission = admit(asked.request, turn.ctx.tools, turn.guard)
  return admission instanceof Promise
    ? admission.then((late) => planAdmission(turn, asked, late, taint))
    : planAdmission(turn, asked, admission, taint)
}

function planAdmission(
  turn: Turn,
  asked: AskedCall,
  admission: Admission,
  taint: TrustTier,
): Plan | Promise<Plan> {
  if (admission.verdict === 'refuse') {
    const { text, stopsTurn } = admission
    return end(asked, 'refused', text, stopsTurn ? repeated(turn, asked) : undefined)
  }
  const { tool, value, hint } = admission
  const admitted: AdmittedCall = {
    asked,
    tool,
    value,
    intent: tool.effect === 'read' ? undefined : intentOf(turn, asked, tool),
    note: hint,
  }
  const cause = needsGate(turn, asked, tool, value, taint)
  return cause instanceof Promise
    ? cause.then((late) => planAdmitted(turn, admitted, late))
    : planAdmitted(turn, admitted, cause)
}

function planAdmitted(turn: Turn, admitted: AdmittedCall, cause: GateCause | undefined): Plan {
  const { asked, tool, value } = admitted
  if (cause === undefined) return { kind: 'run', asked, admitted }
  return { kind: 'gate', asked, admitted, gate: gateRequest(turn, asked, tool, value, cause) }
}

/** A model that breaks off at the same place again and again is stopped like any other that repeats itself. */
function planUnfinished(turn: Turn, asked: AskedCall, text: string): Plan {
  const verdict = turn.guard.judge(asked.request.checksum, false)
  return end(asked, 'refused', text, verdict === 'stop' ? repeated(turn, asked) : undefined)
}

const end = (
  asked: AskedCall,
  settlement: Settlement,
  text: string,
  stop?: StopReason,
): EndPlan => ({ kind: 'end', asked, settlement, text, ...(stop && { stop }) })

function repeated(turn: Turn, asked: AskedCall): StopReason {
  const count = turn.guard.count(asked.request.checksum)
  return {
    code: 'REPEATED_CALL',
    message: `The turn was stopped because one call was made ${count} times with the same arguments. Mark the tool \`repeat: false\` if it polls, or raise \`repeat.stop\`.`,
  }
}
