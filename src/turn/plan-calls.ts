import { lowerTrust, type TrustTier } from '../core/trust.ts'
import type { Settlement } from '../records/tool-call.ts'
import type { GateRequest } from '../store/gate.ts'
import { type Admission, admit } from './admission.ts'
import type { AskedCall } from './ask-calls.ts'
import { errorText } from './error-text.ts'
import { gateRequest, needsGate } from './gates.ts'
import { intentOf } from './intent.ts'
import { orAborted } from './interruption.ts'
import type { StopReason } from './outcome.ts'
import type { AdmittedCall } from './run-call.ts'
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

/** Decides on every call of a response, in the order asked. What is refused is planned like the rest. */
export async function planCalls(
  turn: Turn,
  calls: readonly AskedCall[],
): Promise<{ readonly plans: readonly Plan[]; readonly stop: StopReason | undefined }> {
  const plans: Plan[] = []
  let stop: StopReason | undefined
  // What earlier calls of the same response bring counts: they may have run before the later ones.
  let taint = turn.conversation.taint
  for (const asked of calls) {
    const isFull = turn.order.length + plans.length >= turn.settings.limits.maxCalls
    if (stop === undefined && isFull) stop = tooManyCalls(turn)
    const plan =
      stop === undefined
        ? await planSafely(turn, asked, taint)
        : end(asked, 'refused', 'The turn was stopped before this call; it was not run.')
    plans.push(plan)
    if (plan.kind === 'end') stop ??= plan.stop
    else taint = lowerTrust(taint, plan.admitted.tool.trust)
  }
  return { plans, stop }
}

/** Schemas and policies hold code of the application: what they throw refuses the call. */
async function planSafely(turn: Turn, asked: AskedCall, taint: TrustTier): Promise<Plan> {
  try {
    return await orAborted(turn.signal, () => planCall(turn, asked, taint))
  } catch (error) {
    if (turn.signal.aborted) {
      return end(asked, 'aborted', 'The turn was aborted before this call; it was not run.')
    }
    turn.observed.emit('error', { error, where: 'admission' }, turn.origin)
    return end(asked, 'refused', `Refused: the call could not be checked (${errorText(error)}).`)
  }
}

async function planCall(turn: Turn, asked: AskedCall, taint: TrustTier): Promise<Plan> {
  if (asked.unfinished !== undefined) return planUnfinished(turn, asked, asked.unfinished)
  const admission: Admission = await admit(asked.request, turn.ctx.tools, turn.guard)
  if (admission.verdict === 'refuse') {
    const { text, stopsTurn } = admission
    return end(asked, 'refused', text, stopsTurn ? repeated(turn, asked) : undefined)
  }
  const { tool, value, hint } = admission
  const admitted: AdmittedCall = {
    asked,
    tool,
    value,
    intent: intentOf(turn, asked, tool),
    // Running a `read` tool twice harms nobody, so its intent may come with its settlement.
    isLogged: tool.effect !== 'read',
    ...(hint !== undefined && { note: hint }),
  }
  if (!(await needsGate(turn, asked, tool, value, taint))) return { kind: 'run', asked, admitted }
  return { kind: 'gate', asked, admitted, gate: gateRequest(turn, asked, tool, value) }
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

function tooManyCalls(turn: Turn): StopReason {
  const { maxCalls } = turn.settings.limits
  return {
    code: 'MAX_CALLS',
    message: `The turn was stopped because it made ${maxCalls} calls. Raise \`maxCalls\`, or ask for less at once.`,
  }
}
