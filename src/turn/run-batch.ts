import { andThen } from '../core/thenable.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { GateRequest } from '../store/gate.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { approveInProcess } from './approve-call.ts'
import type { AskedBatch } from './ask-calls.ts'
import { openGate, tellOpened } from './gates.ts'
import { intentEntry } from './intent.ts'
import type { StopReason } from './outcome.ts'
import { type Plan, planCalls } from './plan-calls.ts'
import {
  hasProvided,
  inOrderAsked,
  NOTHING_PROVIDED,
  type ProvidedCalls,
  providedCalls,
  tellProvided,
} from './provider-calls.ts'
import { runAdmitted } from './run-call.ts'
import { type Job, runJobs } from './schedule.ts'
import { announce, recordCall, settleLogged } from './settle-call.ts'
import type { Turn } from './turn.ts'

/** What a batch came to: some calls wait for a decision, or the turn must stop. */
export interface BatchEnd {
  readonly waits: boolean
  readonly stop: StopReason | undefined
}

/** A response's calls when it is clear what is to become of them. */
interface PlannedBatch {
  readonly batch: AskedBatch
  readonly provided: ProvidedCalls
  readonly plans: readonly Plan[]
  /** Those that end without running. */
  readonly ended: readonly ToolCall[]
  readonly gates: readonly GateRequest[]
  readonly stop: StopReason | undefined
  /** How many calls the turn had before. */
  readonly before: number
}

/**
 * Takes a response's calls from request to settled record: admit each in order, make the intents
 * durable, announce, run, settle. Results stand in the order asked, whenever they came. Each step waits
 * only where there is something to wait for.
 */
export function runBatch(turn: Turn, batch: AskedBatch): BatchEnd | Promise<BatchEnd> {
  return andThen(planBatch(turn, batch), (planned) =>
    andThen(commit(turn, planned), () =>
      andThen(tellBegun(turn, planned), () =>
        andThen(runPlans(turn, planned.plans), () => endOf(turn, planned)),
      ),
    ),
  )
}

function planBatch(turn: Turn, batch: AskedBatch): PlannedBatch | Promise<PlannedBatch> {
  const before = turn.order.length
  const providing = hasProvided(batch.items) ? providedCalls(turn, batch.items) : NOTHING_PROVIDED
  return andThen(providing, (provided) =>
    andThen(planCalls(turn, batch.calls), ({ plans, stop }) => {
      const [ended, gates] = [endedCalls(turn, plans), gatesOf(plans)]
      return { batch, provided, plans, ended, gates, stop, before }
    }),
  )
}

function commit(turn: Turn, planned: PlannedBatch): Promise<unknown> | undefined {
  const { batch, provided, plans, ended, gates } = planned
  const { entries } = batch
  // Refusals are settled in the same commit: after a crash nobody can take them for calls to run. What the
  // provider ran or asked leave for is in it too, or nobody would ever settle or decide it.
  const records = provided.calls.length === 0 ? ended : [...ended, ...provided.calls]
  for (const call of records) entries.push(LastingEntry.settlement(turn.id, call))
  for (const plan of plans) {
    const intent = plan.kind === 'run' ? plan.admitted.intent : undefined
    if (intent !== undefined) entries.push(intentEntry(turn.id, intent))
  }
  for (const gate of gates) entries.push(openGate(turn, gate))
  for (const gate of provided.gates) entries.push(openGate(turn, gate))
  return turn.conversation.begin(batch.items, entries, records)
}

/** Announces the calls, and tells of what came of them by the commit alone. */
function tellBegun(turn: Turn, planned: PlannedBatch): Promise<void> | undefined {
  for (const { id, request, createdAt } of planned.batch.calls) {
    const { tool, args, checksum } = request
    announce(turn, { id, tool, args, checksum, createdAt })
  }
  const { gates, ended, provided } = planned
  const isAll = gates.length === 0 && ended.length === 0 && provided === NOTHING_PROVIDED
  return isAll ? undefined : tellCommitted(turn, planned)
}

async function tellCommitted(turn: Turn, { gates, ended, provided }: PlannedBatch): Promise<void> {
  if (gates.length > 0) await tellOpened(turn, gates)
  for (const call of ended) await settleLogged(turn, call)
  if (provided !== NOTHING_PROVIDED) await tellProvided(turn, provided)
}

function endOf(turn: Turn, { batch, provided, before, stop }: PlannedBatch): BatchEnd {
  if (provided.calls.length > 0) inOrderAsked(turn, provided, before)
  const waits = hasUnsettled(turn, batch)
  if (!waits) turn.conversation.flush()
  return { waits: waits || provided.gates.length > 0, stop }
}

function hasUnsettled({ settled, conversation }: Turn, { calls }: AskedBatch): boolean {
  if (conversation.unsettled.size > 0) return true
  for (const { id } of calls) if (!settled.has(id)) return true
  return false
}

function runPlans(turn: Turn, plans: readonly Plan[]): Promise<void> | undefined {
  const [only] = plans
  // Most responses ask for one call, which needs no schedule.
  if (plans.length === 1 && only?.kind === 'run') return runAdmitted(turn, only.admitted)
  const jobs: Job[] = []
  for (const plan of plans) {
    const job = jobOf(turn, plan)
    if (job !== undefined) jobs.push(job)
  }
  const { settings, interruption } = turn
  // Nothing more starts where nobody could record it any more.
  return jobs.length === 0 ? undefined : runJobs(jobs, settings.concurrency, interruption.lose)
}

function endedCalls(turn: Turn, plans: readonly Plan[]): readonly ToolCall[] {
  const ended: ToolCall[] = []
  for (const plan of plans) {
    if (plan.kind !== 'end') continue
    const { asked, settlement, text } = plan
    ended.push(recordCall(turn, asked, { settlement, results: new Tokenizable(text) }))
  }
  return ended
}

function gatesOf(plans: readonly Plan[]): readonly GateRequest[] {
  const gates: GateRequest[] = []
  for (const plan of plans) if (plan.kind === 'gate') gates.push(plan.gate)
  return gates
}

function jobOf(turn: Turn, plan: Plan): Job | undefined {
  if (plan.kind === 'end') return undefined
  const { exclusive } = plan.admitted.tool
  if (plan.kind === 'run') return { exclusive, run: () => runAdmitted(turn, plan.admitted) }
  const { approve } = turn.settings
  // Without `approve` the gate waits in the store.
  if (approve === undefined) return undefined
  const { asked, gate, admitted } = plan
  return { exclusive, run: () => approveInProcess(turn, asked, gate, approve, admitted) }
}
