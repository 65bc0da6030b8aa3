import type { ToolCall } from '../records/tool-call.ts'
import type { NewEntry } from '../store/entry.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { approveInProcess } from './approve-call.ts'
import type { AskedBatch } from './ask-calls.ts'
import { settlementOf } from './conversation-log.ts'
import { openGate, tellOpened } from './gates.ts'
import type { StopReason } from './outcome.ts'
import { type Plan, planCalls } from './plan-calls.ts'
import { providedCalls, tellProvided } from './provider-calls.ts'
import { runAdmitted } from './run-call.ts'
import { type Job, runJobs } from './schedule.ts'
import { announce, recordCall, settleLogged } from './settle-call.ts'
import type { Turn } from './turn.ts'

/** What a batch came to: some calls wait for a decision, or the turn must stop. */
export interface BatchEnd {
  readonly waits: boolean
  readonly stop: StopReason | undefined
}

/**
 * Takes a response's calls from request to settled record: admit each in order, make the intents
 * durable, announce, run, settle. Results stand in the order asked, whenever they came.
 */
export async function runBatch(turn: Turn, batch: AskedBatch): Promise<BatchEnd> {
  const { conversation } = turn
  const provided = await providedCalls(turn, batch.items)
  const { plans, stop } = await planCalls(turn, batch.calls)
  // Refusals are settled in the same commit: after a crash nobody can take them for calls to run. What the
  // provider ran or asked leave for is in it too, or nobody would ever settle or decide it.
  const ended = plans.flatMap((plan) => (plan.kind === 'end' ? [endedCall(turn, plan)] : []))
  const gates = plans.flatMap((plan) => (plan.kind === 'gate' ? [plan.gate] : []))
  conversation.batch = [...batch.items]
  const intents = plans.flatMap((plan) => intentEntry(turn, plan))
  const records = [...ended, ...provided.calls]
  const settlements = records.map((call) => settlementOf(turn.id, call))
  const opened = [...gates, ...provided.gates].map((gate) => openGate(turn, gate))
  await conversation.commit([...batch.entries, ...settlements, ...intents, ...opened], records)
  for (const { id, request, createdAt } of batch.calls) {
    announce(turn, { ...request, id, createdAt })
  }
  await tellOpened(turn, gates)
  for (const call of ended) await settleLogged(turn, call)
  await tellProvided(turn, provided)
  const jobs = plans.flatMap((plan) => jobOf(turn, plan))
  await runJobs(jobs, turn.settings.concurrency)
  const waits = batch.calls.some(({ id }) => !turn.settled.has(id))
  if (!waits) conversation.flush()
  return { waits: waits || provided.gates.length > 0, stop }
}

function endedCall(turn: Turn, { asked, settlement, text }: Plan & { kind: 'end' }): ToolCall {
  return recordCall(turn, asked, { settlement, results: new Tokenizable(text) })
}

function intentEntry(turn: Turn, plan: Plan): NewEntry[] {
  if (plan.kind !== 'run' || !plan.admitted.isLogged) return []
  return [{ kind: 'intent', turnId: turn.id, data: plan.admitted.intent }]
}

function jobOf(turn: Turn, plan: Plan): Job[] {
  if (plan.kind === 'end') return []
  const { exclusive } = plan.admitted.tool
  if (plan.kind === 'run') return [{ exclusive, run: () => runAdmitted(turn, plan.admitted) }]
  const { approve } = turn.settings
  // Without `approve` the gate waits in the store.
  if (approve === undefined) return []
  const { asked, gate, admitted } = plan
  return [{ exclusive, run: () => approveInProcess(turn, asked, gate, approve, admitted) }]
}
