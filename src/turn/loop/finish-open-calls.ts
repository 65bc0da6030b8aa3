import type { Gate } from '../../store/gate.ts'
import { providerStep } from '../gates/provider-gates.ts'
import { ABORTED, asksForResult, unreportedStep, useLateResult } from '../gates/use-result.ts'
import { askStore } from '../limits/failure.ts'
import type { StartedState } from '../log/call-state.ts'
import { nextStep, type OpenPolicy } from '../recovery/next-step.ts'
import { hasWaiting } from './await-background.ts'
import { perform, runAll } from './run-response.ts'
import type { Turn } from './turn.ts'

/**
 * Finishes every call without a record, each from its state in the log, side by side like the calls of a response. Gives
 * true when some still wait for a decision.
 */
export async function finishOpenCalls(
  turn: Turn,
  policy: OpenPolicy,
  isAfterCrash: boolean,
): Promise<boolean> {
  const { log, guard, tally, opened } = turn
  for (const { message, data } of opened.doubts) {
    const { toolCallId } = data as { readonly toolCallId: string }
    turn.events.observed('warning', { code: 'IN_DOUBT', message, toolCallId })
  }
  const { open, recent } = log.state
  const isSameTurn = policy === 'continue'
  // After a wait or a crash, it is still the same turn for the model: its calls count as repeats.
  if (isSameTurn) for (const checksum of recent) guard.recall(checksum)
  const jobs = [...open.values()].map((state) => {
    const { item, checksum } = state.call
    tally.resume(item.id)
    if (isSameTurn) guard.recall(checksum)
    const exclusive = turn.toolOf(item.tool)?.exclusive ?? false
    const run = async () => perform(turn, await nextStep(turn, state, policy))
    return { exclusive, run }
  })
  const late = opened.gates.filter((gate) => isLateReport(turn, gate))
  await runAll(turn, jobs)
  for (const gate of late) await perform(turn, useLateResult(turn, gate))
  if (isAfterCrash) await turn.inner.sweep(startedIn(turn))
  let waits = false
  for (const gate of opened.gates) {
    if (gate.from === 'runner') continue
    const step = providerStep(turn, gate, isSameTurn)
    if (step.do === 'wait') waits = true
    await perform(turn, step)
  }
  return waits || hasWaiting(turn)
}

/** Whether the report came after the call had settled. */
const isLateReport = ({ log }: Turn, gate: Gate): boolean =>
  asksForResult(gate) && gate.state === 'answered' && log.state.shown.has(gate.toolCallId ?? '')

/** An aborted turn does not wait for what others execute: a result that comes later settles the doubt. */
export async function leaveExternalCalls(turn: Turn): Promise<void> {
  const { log, settings } = turn
  const held = [...log.state.open.values()].filter((state) => state.at === 'held')
  if (held.length === 0) return
  for (const gate of await askStore(() => settings.store.openGates(log.id))) {
    const state = held.find(({ gates }) => gates.includes(gate.id))
    if (state === undefined || !asksForResult(gate) || gate.decision !== undefined) continue
    await log.commit(unreportedStep(turn, state, gate, ABORTED).facts)
  }
}

const startedIn = ({ log }: Turn): readonly StartedState[] =>
  [...log.state.open.values()].flatMap((state) =>
    state.at === 'started' || state.at === 'held' ? [state] : [],
  )
