import type { Intent, NewEntry } from '../store/entry.ts'
import type { GateRequest } from '../store/gate.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import { type Admission, admit } from './admission.ts'
import type { AskedBatch, AskedCall } from './ask-calls.ts'
import { decisionOf, gateRequest, needsGate } from './gates.ts'
import type { StopReason } from './outcome.ts'
import { runAdmitted } from './run-call.ts'
import { type Job, runJobs } from './schedule.ts'
import { announce, recordCall, settle } from './settle-call.ts'
import type { Turn } from './turn.ts'

/** What a batch came to: the turn must stop, must wait, or goes on. */
export type BatchEnd = { readonly stop: StopReason } | 'suspended' | undefined

type Plan =
  | { readonly asked: AskedCall; readonly kind: 'refuse'; readonly text: string }
  | {
      readonly asked: AskedCall
      readonly kind: 'run'
      readonly admitted: Admitted
      readonly intent: Intent
    }
  | {
      readonly asked: AskedCall
      readonly kind: 'gate'
      readonly admitted: Admitted
      readonly gate: GateRequest
    }

type Admitted = Extract<Admission, { verdict: 'run' }>

/**
 * Takes a response's calls from request to settled record: admit each in order, make the intents
 * durable, announce, run, settle. Results stand in the order asked, whenever they came.
 */
export async function runBatch(turn: Turn, batch: AskedBatch): Promise<BatchEnd> {
  const { conversation } = turn
  const { plans, stop } = await planCalls(turn, batch.calls)
  conversation.batch = [...batch.items]
  await conversation.append([...batch.entries, ...plans.flatMap((plan) => entriesOf(turn, plan))])
  for (const { asked } of plans) announce(turn, asked)
  await runJobs(
    plans.map((plan) => jobOf(turn, plan)),
    turn.settings.concurrency,
  )
  const waits = batch.calls.some(({ id }) => !turn.settled.has(id))
  if (stop !== undefined) return { stop }
  if (waits) return 'suspended'
  conversation.flush()
  return undefined
}

async function planCalls(
  turn: Turn,
  calls: readonly AskedCall[],
): Promise<{ plans: Plan[]; stop: StopReason | undefined }> {
  const plans: Plan[] = []
  let stop: StopReason | undefined
  for (const asked of calls) {
    const capacity = turn.settings.limits.maxCalls - turn.order.length - plans.length
    if (stop === undefined && capacity <= 0) stop = tooManyCalls(turn)
    if (stop !== undefined) {
      plans.push({
        asked,
        kind: 'refuse',
        text: 'The turn was stopped before this call; it was not run.',
      })
      continue
    }
    const plan = await planCall(turn, asked)
    if (plan.stop !== undefined) stop = plan.stop
    plans.push(plan)
  }
  return { plans, stop }
}

async function planCall(turn: Turn, asked: AskedCall): Promise<Plan & { stop?: StopReason }> {
  const admission = await admit(asked.request, turn.ctx.tools, turn.guard)
  if (asked.unfinished !== undefined) return { asked, kind: 'refuse', text: asked.unfinished }
  if (admission.verdict === 'refuse') {
    const { text, stopsTurn } = admission
    return { asked, kind: 'refuse', text, ...(stopsTurn && { stop: repeated(turn, asked) }) }
  }
  const { tool, value } = admission
  if (await needsGate(turn, asked, tool, value)) {
    return { asked, kind: 'gate', admitted: admission, gate: gateRequest(turn, asked, tool, value) }
  }
  return { asked, kind: 'run', admitted: admission, intent: intentOf(turn, asked, tool) }
}

/** What goes into the log before anything runs; a `read` tool's intent may come with its settlement. */
function entriesOf(turn: Turn, plan: Plan): readonly NewEntry[] {
  if (plan.kind === 'gate' && turn.settings.approve === undefined) {
    return [{ kind: 'gate-opened', turnId: turn.id, data: plan.gate }]
  }
  if (plan.kind !== 'run' || plan.admitted.tool.effect === 'read') return []
  return [{ kind: 'intent', turnId: turn.id, data: plan.intent }]
}

/** The key stays the same for every attempt at this call. */
export function intentOf(turn: Turn, asked: AskedCall, tool: Tool): Intent {
  const { id, request, createdAt, item } = asked
  return {
    id,
    tool: request.tool,
    args: request.args,
    checksum: request.checksum,
    ...(tool.effect !== undefined && { effect: tool.effect }),
    idempotencyKey: `${turn.conversation.id}/${id}`,
    createdAt: createdAt.toISO(),
    ...(item.wire.api !== 'executor' && { wire: item.wire }),
  }
}

function jobOf(turn: Turn, plan: Plan): Job {
  const { asked } = plan
  if (plan.kind === 'refuse') {
    const end = { settlement: 'refused' as const, results: new Tokenizable(plan.text) }
    return { exclusive: false, run: () => settle(turn, recordCall(turn, asked, end)) }
  }
  const { tool } = plan.admitted
  if (plan.kind === 'run') {
    return {
      exclusive: tool.exclusive,
      run: () => runAdmitted(turn, asked, plan.admitted, plan.intent),
    }
  }
  return { exclusive: tool.exclusive, run: () => askInProcess(turn, plan) }
}

/** With `approve` the answer comes at once; without it the gate waits in the store. */
async function askInProcess(turn: Turn, plan: Extract<Plan, { kind: 'gate' }>): Promise<void> {
  const { asked, admitted, gate } = plan
  const { approve } = turn.settings
  if (approve === undefined) return
  const answer = await approve(gate)
  const decision = decisionOf(
    typeof answer === 'boolean' ? { approve: answer, decidedBy: 'approve' } : answer,
  )
  if (decision.digest !== undefined && decision.digest !== gate.digest) {
    throw new Error('The decision is about something else')
  }
  if (decision.verdict === 'approved') {
    const intent = { ...intentOf(turn, asked, admitted.tool), gateId: gate.id }
    await turn.conversation.append([{ kind: 'intent', turnId: turn.id, data: intent }])
    return runAdmitted(turn, asked, admitted, intent)
  }
  const results = new Tokenizable(
    'Denied: somebody was asked to approve this call and declined. It was not run.',
  )
  await settle(
    turn,
    recordCall(turn, asked, { settlement: 'denied', results, tool: admitted.tool }),
  )
}

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
