import { isBobbinError } from '../../core/error/error.ts'
import { admitCalls } from '../call/admit.ts'
import { askCalls } from '../call/ask.ts'
import { runCall } from '../call/run-call.ts'
import { type Job, runJobs } from '../call/schedule.ts'
import { withoutGrant } from '../call/standing-approval.ts'
import type { NextStep } from '../call/step.ts'
import { approveHere, tooLateStep } from '../gates/use-decision.ts'
import type { StopReason } from '../limits/outcome.ts'
import { type Fact, taintNote } from '../log/fact.ts'
import { hasWaiting } from './await-background.ts'
import type { Decided } from './decide.ts'
import type { Turn } from './turn.ts'

/** The end of a response: whether calls wait for a decision, and why the turn must stop, if it must. */
export interface ResponseEnd {
  readonly waits: boolean
  readonly stop: StopReason | undefined
}

/** Takes the calls of a response from request to record. The history shows results in the order asked. */
export async function runResponse(
  turn: Turn,
  { decision, modelCall, streamId, trips }: Decided,
): Promise<ResponseEnd> {
  // 1. Ask: every call gets its id and its place; arguments are read strictly.
  const asked = await askCalls(turn, decision, { id: modelCall, streamId })
  // 2. Admit: decide on each call in the order asked: end, wait or run.
  const admitted = await admitCalls(turn, asked.calls, turn.tally.callCount)
  // 3. One commit: what the request added, the response with its refusals, gates and intents, so that a crash cannot separate them.
  const { unrecorded } = turn.log.state
  const taint = unrecorded === undefined ? [] : [taintNote(unrecorded)]
  const told = trips.decided(decision)
  const sent = [...turn.request.takeFacts(), ...told]
  const steps = await commitSteps(turn, [...sent, ...asked.facts, ...taint], admitted.steps)
  // 4. Run side by side; each call settles by itself.
  await runAll(
    turn,
    steps.map((step) => jobOf(turn, step)),
  )
  return { waits: asked.isGated || hasWaiting(turn), stop: admitted.stop }
}

/** Commits the steps of a response. If a standing approval ended meanwhile, its call waits for a person instead. */
async function commitSteps(
  turn: Turn,
  before: readonly Fact[],
  steps: readonly NextStep[],
): Promise<readonly NextStep[]> {
  try {
    await turn.log.commit([...before, ...steps.flatMap(({ facts }) => facts)])
    return steps
  } catch (error) {
    const other = withoutGrant(steps, error)
    if (other === undefined) throw error
    return commitSteps(turn, before, other)
  }
}

const jobOf = (turn: Turn, step: NextStep) => ({
  exclusive: toolOf(step)?.exclusive ?? false,
  run: () => proceed(turn, step),
})

const toolOf = (step: NextStep) =>
  step.do === 'run' ? step.tool : step.do === 'wait' ? step.ready?.tool : undefined

/** Takes a step: commits its facts, then carries it out. */
export async function perform(turn: Turn, step: NextStep): Promise<void> {
  try {
    await turn.log.commit(step.facts)
  } catch (error) {
    const used = usedApproval(step)
    if (used === undefined || !isBobbinError(error, 'E_GATE_STATE')) throw error
    const original = used.call.editOf ?? used.call.item.id
    const waiting = turn.log.state.open.get(original)
    return perform(turn, tooLateStep(turn, waiting?.call ?? used.call, used.gate))
  }
  await proceed(turn, step)
}

/** The decision that a step uses, if it uses one. */
function usedApproval(step: NextStep) {
  if (step.do === 'rest') return step.approved
  if (step.do !== 'run' || step.gate === undefined || step.given) return undefined
  return { call: step.call, gate: step.gate }
}

/** Carries out a step whose facts are durable. */
async function proceed(turn: Turn, step: NextStep): Promise<void> {
  const { approve } = turn.settings
  if (step.do === 'run' && step.intent.background && !step.given) {
    turn.background.start(step.call.item.id, () => runCall(turn, step))
  } else if (step.do === 'run') await runCall(turn, step)
  else if (step.do === 'end') await step.left?.leave()
  else if (step.do === 'wait' && step.call.item.executedBy === 'runner' && approve) {
    await perform(turn, await approveHere(turn, step, { ...turn.settings, approve }))
  }
}

/** Runs jobs side by side. Losing the conversation stops all of them: nothing could be recorded any more. */
export const runAll = (turn: Turn, jobs: readonly Job[]): Promise<void> =>
  runJobs(jobs, turn.settings.concurrency, turn.interruption.abortIfLost)
