import { callsOf, checkDecision } from '../executor/check-decision.ts'
import type { ExecutorDecision } from '../executor/executor.ts'
import { limitReached, MAX_CALLS_PER_RESPONSE, tooManyInResponse } from '../limits/limits.ts'
import { type DispatchEnd, failed, SUSPENDED, stopped } from '../limits/outcome.ts'
import { awaitBackground, showBackgroundResults } from './await-background.ts'
import { compactHistory } from './compact-history.ts'
import { decide, nextInput } from './decide.ts'
import { type ResponseEnd, runResponse } from './run-response.ts'
import { takeSteered } from './steer.ts'
import { checkedOutput, correctionText, isRejected } from './structured-output.ts'
import type { Turn } from './turn.ts'
import { countedUsage } from './turn-tally.ts'

/** The loop: ask the executor, act on its decision, and repeat until there is an answer or a reason to stop. */
export async function dispatch(turn: Turn): Promise<DispatchEnd> {
  for (let answers = 1; ; ) {
    const limit = await beginIteration(turn)
    if (limit !== undefined) return limit
    const { iteration } = turn.tally
    turn.events.observed('iterationStart', { iteration })
    const decided = await decide(turn)
    const { decision } = decided
    checkDecision(decision)
    turn.tally.add(decision.usage, decided.trips.cost(decision))
    const asked = callsOf(decision).length + (decision.unfinished?.length ?? 0)
    if (asked > MAX_CALLS_PER_RESPONSE) {
      await turn.log.commit(decided.trips.decided(decision))
      return failed(tooManyInResponse(asked))
    }
    // An answer that comes after the abort is not recorded. Calls are, as calls that did not run.
    const isLate = 'answer' in decision && turn.interruption.signal.aborted
    if (isLate) await turn.log.commit(decided.trips.decided(decision))
    const end = isLate
      ? turn.interruption.end()
      : endOf(turn, decision, await runResponse(turn, decided))
    const usage = countedUsage(decision.usage)
    const calls = callsOf(decision).length
    turn.events.observed('iterationEnd', { iteration, calls, ...(usage && { usage }) })
    if (end === undefined) continue
    // A message that came while the model answered belongs to this turn.
    if (end.status === 'completed' && (await takeSteered(turn))) continue
    // The turn does not end while background calls run: the model reads their results.
    const waited = end.status === 'completed' ? await awaitBackground(turn) : undefined
    if (waited === 'more') continue
    if (waited !== undefined) return waited
    const checked = await checkedOutput(end, turn.answer, turn.interruption)
    if (!isRejected(checked) || answers++ === turn.answer?.attempts) return checked
    await askAgain(turn, checked)
  }
}

/** Tells the model why its answer does not fit, and observers that it is asked again. */
async function askAgain({ log, settings, events }: Turn, { reason }: DispatchEnd): Promise<void> {
  const message = reason?.message ?? ''
  const parts = [{ type: 'text', text: correctionText(message) }] as const
  const item = { type: 'message', role: 'user', parts } as const
  await log.commit([{ kind: 'item', id: settings.ids(), item }])
  events.warn({ code: 'OUTPUT_CORRECTION', message })
}

/** Prepares the next request; gives the end of the turn if a limit is reached. */
async function beginIteration(turn: Turn): Promise<DispatchEnd | undefined> {
  const { settings, tally, interruption } = turn
  if (interruption.signal.aborted) return interruption.end()
  const { used } = tally
  const iteration = tally.iteration + 1
  const limit = limitReached(
    settings.limits,
    used.iterations + iteration,
    tally.startedAt - used.timeMs,
    settings.clock,
  )
  if (limit !== undefined) return stopped(limit)
  tally.iteration = iteration
  offerActive(turn)
  await takeSteered(turn)
  await showBackgroundResults(turn)
  await compactHistory(turn)
  const short = await turn.request.prepare(turn.ctx.output?.schema, (report) =>
    turn.events.observed('budget', report),
  )
  const reason = short ?? tally.overspent(nextInput(turn))
  return reason && stopped(reason)
}

/** The end of the turn after a response; undefined when it continues. */
function endOf(
  turn: Turn,
  decision: ExecutorDecision,
  { waits, stop }: ResponseEnd,
): DispatchEnd | undefined {
  const { signal, end } = turn.interruption
  if ('answer' in decision && !waits) return answered(decision)
  if (signal.aborted) return end()
  if (stop !== undefined) return stopped(stop)
  return waits ? SUSPENDED : brokenOff(decision)
}

/** An answer that the model did not finish does not complete the turn. */
function answered({ answer, finish = 'stop' }: ExecutorDecision & { answer: string }): DispatchEnd {
  if (finish === 'stop' || finish === 'tools') return { status: 'completed', text: answer }
  return modelStopped(answer, `The model stopped before its answer was complete (${finish}).`)
}

/** A response that was cut for length can be made shorter; one that was declined comes out the same again. */
function brokenOff({
  unfinished = [],
  finish = 'tools',
}: ExecutorDecision): DispatchEnd | undefined {
  if (unfinished.length === 0 || finish === 'length') return undefined
  return modelStopped('', `The model broke off while it asked for calls (${finish}).`)
}

const modelStopped = (text: string, message: string): DispatchEnd =>
  stopped({ code: 'MODEL_STOPPED', message }, text)

/** Offers the instructions and tools of the agent that is active now. */
function offerActive({ agent, request, visible, settings, trace }: Turn): void {
  if (agent) trace?.agent(agent.name)
  if (agent === undefined || visible.own === agent.tools) return
  request.offer(agent.instructions, agent.tools, settings.artifacts)
}
