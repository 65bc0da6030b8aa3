import type { ToolRegistry } from '../tools/tool-registry.ts'
import { askCalls } from './ask-calls.ts'
import { callsOf, checkDecision } from './check-decision.ts'
import { decide } from './decide.ts'
import type { Decision } from './executor.ts'
import { limitReached } from './limits.ts'
import { type DispatchEnd, type StopReason, SUSPENDED, stopped } from './outcome.ts'
import { type BatchEnd, runBatch } from './run-batch.ts'
import { definitionsOf } from './tool-definitions.ts'
import type { Turn } from './turn.ts'
import { addUsage, countedUsage } from './turn-usage.ts'

/** The loop: ask the executor what to do, do it, and go round until there is an answer or a reason to stop. */
export async function dispatch(turn: Turn): Promise<DispatchEnd> {
  const { observed, origin } = turn
  for (;;) {
    const begun = beginIteration(turn)
    const limit = begun instanceof Promise ? await begun : begun
    if (limit !== undefined) return limit
    const { iteration } = turn
    if (observed.has('iterationStart')) observed.emit('iterationStart', { iteration }, origin)
    const decision = await decide(turn)
    checkDecision(decision)
    addUsage(turn, decision.usage)
    let end: DispatchEnd | undefined
    // An answer that came too late is not recorded; calls are, as calls that did not run.
    if ('answer' in decision && turn.signal.aborted) end = turn.interruption.end()
    else {
      const asking = askCalls(turn, decision)
      const batch = asking instanceof Promise ? await asking : asking
      const running = runBatch(turn, batch)
      end = endOf(turn, decision, running instanceof Promise ? await running : running)
    }
    if (observed.has('iterationEnd')) {
      const calls = callsOf(decision).length
      const usage = countedUsage(decision.usage)
      observed.emit('iterationEnd', { iteration, calls, ...(usage && { usage }) }, origin)
    }
    if (end !== undefined) return end
  }
}

/** Says why the executor must not be asked once more, if so; makes the request ready otherwise. */
function beginIteration(turn: Turn): DispatchEnd | undefined | Promise<DispatchEnd | undefined> {
  const { settings, startedAt } = turn
  if (turn.signal.aborted) return turn.interruption.end()
  const iteration = turn.iteration + 1
  const limit = limitReached(settings.limits, iteration, startedAt, settings.clock)
  if (limit !== undefined) return stopped(limit)
  turn.iteration = iteration
  const offered = turn.ctx.tools
  const short = fitRequest(turn)
  return short instanceof Promise ? fitted(turn, short, offered) : shortOf(short)
}

async function fitted(
  turn: Turn,
  fitting: Promise<StopReason | undefined>,
  offered: ToolRegistry,
): Promise<DispatchEnd | undefined> {
  let short = await fitting
  // A handle brings tools to read it, which take room themselves, and which go with the last one. What was shed
  // stays shed, so that this comes to an end.
  for (let counted = offered; turn.ctx.tools !== counted; ) {
    counted = turn.ctx.tools
    short = await fitRequest(turn)
  }
  return shortOf(short)
}

const shortOf = (reason: StopReason | undefined): DispatchEnd | undefined =>
  reason && stopped(reason)

function fitRequest(turn: Turn) {
  const { request, ctx, observed, origin } = turn
  if (turn.settings.budget === undefined) return request.prepare(NO_TOOLS, undefined, ignore)
  return request.prepare(
    () => definitionsOf(ctx.tools),
    ctx.output?.schema,
    (report) => observed.emit('budget', report, origin),
  )
}

// Without a budget nothing is counted and nothing told.
const NO_TOOLS = () => []
const ignore = () => {}

/** The turn's end behind a response, or nothing when it goes on. */
function endOf(turn: Turn, decision: Decision, batch: BatchEnd): DispatchEnd | undefined {
  const { waits, stop } = batch
  if ('answer' in decision && !waits) return answered(decision)
  if (turn.signal.aborted) return turn.interruption.end()
  if (stop !== undefined) return stopped(stop)
  if (waits) return SUSPENDED
  return brokenOff(decision)
}

/** An answer that the model could not finish is no completed turn. */
function answered({ answer, finish = 'stop' }: Decision & { answer: string }): DispatchEnd {
  if (finish === 'stop' || finish === 'tools') return { status: 'completed', text: answer }
  return modelStopped(answer, `The model stopped before its answer was complete (${finish}).`)
}

/** A response that was cut for length can be made shorter; one that was declined comes out the same again. */
function brokenOff({ unfinished = [], finish = 'tools' }: Decision): DispatchEnd | undefined {
  if (unfinished.length === 0 || finish === 'length') return undefined
  return modelStopped('', `The model broke off while it asked for calls (${finish}).`)
}

const modelStopped = (text: string, message: string): DispatchEnd =>
  stopped({ code: 'MODEL_STOPPED', message }, text)
