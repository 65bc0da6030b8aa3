import { isBobbinError } from '../../core/error/error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { Message } from '../../records/message.ts'
import type { Gate } from '../../store/gate.ts'
import { layersOf, wrap } from '../call/middleware.ts'
import type { Buses } from '../events/event-bus.ts'
import { askStore, errorText, type Fault, faultOf } from '../limits/failure.ts'
import {
  type DispatchEnd,
  failed,
  failure,
  type StopReason,
  SUSPENDED,
  stopped,
  type TurnFacts,
  type TurnOutcome,
  type TurnStatus,
  type TurnUsage,
  type UnfinishedEnd,
} from '../limits/outcome.ts'
import type { Fact } from '../log/fact.ts'
import { diedEarly, endsInAnswer, isAnswered, lastAnswer } from '../log/log-end.ts'
import type { RunnerSettings } from '../options/runner-options.ts'
import { settleDoubts } from '../recovery/reconcile.ts'
import { awaitBackground, showBackgroundResults } from './await-background.ts'
import { dispatch } from './dispatch.ts'
import { finishOpenCalls, leaveExternalCalls } from './finish-open-calls.ts'
import { type OpenedTurn, openTurn, type TurnSeed } from './open-turn.ts'
import { checkedOutput } from './structured-output.ts'
import type { Turn } from './turn.ts'
import { NO_USAGE } from './turn-tally.ts'

/** The difference between `run`, `resume` and `recover`. */
export interface TurnPlan {
  readonly way: 'run' | 'resume' | 'recover' | 'undo'
  /** Runs before the dispatch: adds the user's message. */
  readonly begin?: (turn: Turn) => Promise<void>
  /** Runs instead of everything else: the turn asks no model. */
  readonly instead?: (turn: Turn) => Promise<DispatchEnd>
  /** Receives the turn when it has ended. */
  readonly onEnd?: (turn: Turn) => void
}

/** Opens a turn, runs it to its end, and releases the conversation. */
export async function runTurn(
  settings: RunnerSettings,
  buses: Buses,
  seed: TurnSeed,
  plan: TurnPlan,
): Promise<TurnOutcome> {
  const { conversation, turnId, parent } = seed
  const isNested = parent !== undefined
  const { telemetry } = settings
  const trace =
    telemetry && (await telemetry.turn({ conversation, turnId, way: plan.way, isNested }))
  if (trace === undefined) return runOpened(settings, buses, seed, plan)
  try {
    const outcome = await trace.within(() => runOpened(settings, buses, { ...seed, trace }, plan))
    trace.ended(outcome)
    return outcome
  } catch (error) {
    trace.failed(error)
    throw error
  }
}

async function runOpened(
  settings: RunnerSettings,
  buses: Buses,
  seed: TurnSeed,
  plan: TurnPlan,
): Promise<TurnOutcome> {
  let opened: OpenedTurn
  try {
    opened = await openTurn(settings, buses, seed, plan.way)
  } catch (error) {
    // A conversation that is busy, or has an invalid name, is an error of the caller. Any other error is the store's.
    // A missing conversation was deleted after it was taken: that is not an error of the caller either.
    const isDeleted = isBobbinError(error, 'E_NOT_FOUND')
    if (isBobbinError(error) && faultOf(error) !== 'store' && !isDeleted) throw error
    return notOpened(buses, seed, error)
  }
  const { turn, close } = opened
  try {
    return await throughLayers(turn, () => turnOutcome(turn, seed, plan))
  } finally {
    plan.onEnd?.(turn)
    await close()
  }
}

/** The outcome of a turn that did not start, because the store failed. */
function notOpened(
  { observed }: Buses,
  { turnId, conversation }: TurnSeed,
  error: unknown,
): TurnOutcome {
  const origin = Object.freeze({ turnId, conversation })
  observed.emit('error', { error, where: 'open' }, origin)
  const reason = failure('STORE_FAILED', error)
  const nothing = { text: '', toolCalls: [], usage: NO_USAGE, gates: [] }
  return { status: 'failed', ...nothing, ...origin, reason }
}

/** A layer that throws fails the turn; the outcome of the inside is kept. */
async function throughLayers(turn: Turn, core: () => Promise<TurnOutcome>): Promise<TurnOutcome> {
  const layers = layersOf(turn.settings.middleware, 'turn')
  let inner: TurnOutcome | undefined
  try {
    const run = async () => (inner = await core())
    const given: unknown = await wrap(layers, turn.ctx, run, turn.interruption.signal)
    if (!isOutcome(given)) throw new Error('It returned no outcome: return the result of `next`.')
    const outcome = consistent(given)
    // A layer that answers without `next` ends the turn too.
    if (inner === undefined) await closeLog(turn, outcome)
    return outcome
  } catch (error) {
    const end = brokenLayer(turn, error)
    if (inner !== undefined) return consistent({ ...inner, ...end, text: inner.text })
    return outcomeOf(turn, end, [], await closeLog(turn, end))
  }
}

const isOutcome = (given: unknown): given is LayerOutcome =>
  typeof given === 'object' && given !== null && 'status' in given

/** A layer may change the status: an outcome has an output or a reason, and never both. */
function consistent({ status, output, reason, ...facts }: LayerOutcome): TurnOutcome {
  return status === 'completed'
    ? { status, ...facts, output }
    : { status, ...facts, reason: reason ?? ENDED_BY_LAYER }
}

/** What a layer gives back: its code may not be typed. */
interface LayerOutcome extends TurnFacts {
  readonly status: TurnStatus
  readonly output?: unknown
  readonly reason?: StopReason | undefined
}

const ENDED_BY_LAYER: StopReason = {
  code: 'MIDDLEWARE',
  message: 'A middleware layer ended the turn and gave no reason.',
}

async function turnOutcome(turn: Turn, seed: TurnSeed, plan: TurnPlan): Promise<TurnOutcome> {
  const { events, settings, tally } = turn
  events.observed('turnStart', { startedAt: tally.startedAt })
  let gates: readonly Gate[] = []
  const end = await guarded(turn, async () => {
    if (turn.opened.fault !== undefined) throw turn.opened.fault as Error
    const worked = await workToEnd(turn, plan)
    if (worked.status === 'suspended')
      gates = await askStore(() => settings.store.openGates(turn.log.id))
    return worked
  })
  if (turn.interruption.signal.aborted && plan.way !== 'undo') await leaveSafely(turn)
  const checked = await checkedOutput(end, seed.output, turn.interruption)
  const partial = partialMessages(turn, checked)
  const told = withPartial(checked, partial)
  const usage = await closeLog(turn, checked, partial)
  // A clock may be set back.
  const durationMs = Math.max(0, settings.clock.now() - tally.startedAt)
  events.observed('turnEnd', { status: checked.status, durationMs, usage })
  return outcomeOf(turn, told, gates, usage)
}

/** A store that fails here leaves the calls open: the next turn finds them. */
async function leaveSafely(turn: Turn): Promise<void> {
  try {
    await leaveExternalCalls(turn)
  } catch (error) {
    turn.events.error(error, 'turn')
  }
}

/** A turn does not end while background calls run, however its work ended. */
async function workToEnd(turn: Turn, plan: TurnPlan): Promise<DispatchEnd> {
  try {
    return await (plan.instead?.(turn) ?? work(turn, plan))
  } finally {
    await turn.background.ended()
  }
}

/** `run`, `resume` and `recover` in one: finish open calls, add the message, then the loop. */
async function work(turn: Turn, { way, begin }: TurnPlan): Promise<DispatchEnd> {
  const { end } = turn.opened
  const { open, doubts } = turn.log.state
  if (way === 'recover' && open.size === 0 && diedEarly(end)) return NOTHING_LEFT
  const isOver = way !== 'run' && isAnswered(end, turn.request.history.items)
  const isAfterCrash = way === 'recover' || end.is !== 'ended'
  if (await finishOpenCalls(turn, way === 'run' ? 'abandon' : 'continue', isAfterCrash))
    return SUSPENDED
  if (way === 'recover') await settleDoubts(turn, doubts)
  // A model that has answered is asked again when background calls have given something, and not before.
  const { items } = turn.request.history
  const isWaiting = way !== 'run' && !turn.background.isIdle && endsInAnswer(items)
  const waited = isOver || isWaiting ? await awaitBackground(turn) : undefined
  if (waited !== undefined && waited !== 'more') return waited
  if (isOver && waited === undefined) return { status: 'completed', text: lastAnswer(items) }
  await showBackgroundResults(turn)
  await begin?.(turn)
  return dispatched(turn)
}

async function dispatched(turn: Turn): Promise<DispatchEnd> {
  const { events, settings, interruption } = turn
  events.observed('dispatchStart', { tools: (turn.agent ?? settings).tools.names })
  let end: DispatchEnd = NOT_REACHED
  try {
    const core = async () => {
      end = await guarded(turn, () => dispatch(turn))
    }
    await wrap(layersOf(settings.middleware, 'dispatch'), turn.ctx, core, interruption.signal)
  } catch (error) {
    end = brokenLayer(turn, error)
  }
  events.observed('dispatchEnd', { iterations: turn.tally.iteration })
  return end
}

const NOTHING_LEFT = stopped({
  code: 'NOTHING_LEFT',
  message: 'Nothing to recover: the process ended before its message was stored. Run it again.',
})

const NOT_REACHED = stopped({
  code: 'MIDDLEWARE',
  message: 'A middleware layer ended the dispatch without calling `next`.',
})

function brokenLayer({ interruption, events }: Turn, error: unknown): UnfinishedEnd {
  const { signal } = interruption
  if (signal.aborted && error === signal.reason) return interruption.end()
  events.error(error, 'middleware')
  return failed(failure('MIDDLEWARE', error, `Middleware failed: ${errorText(error)}`))
}

/** An error of the task becomes the end of the turn. */
async function guarded(turn: Turn, task: () => Promise<DispatchEnd>): Promise<DispatchEnd> {
  try {
    return await task()
  } catch (error) {
    if (turn.interruption.signal.aborted) return turn.interruption.end()
    turn.events.error(error, 'turn')
    return failed(failure(FAILURE_CODES[faultOf(error)], error))
  }
}

const FAILURE_CODES = {
  store: 'STORE_FAILED',
  refused: 'STORE_FAILED',
  model: 'MODEL_FAILED',
  other: 'EXECUTOR_FAILED',
} as const satisfies Record<Fault, StopReason['code']>

/** The texts that the model was writing when the turn ended without a whole answer. */
function partialMessages({ events, settings }: Turn, { status }: DispatchEnd): readonly Message[] {
  if (status === 'completed' || status === 'suspended') return []
  return events.openTexts().flatMap(({ type, id, text, modelCall }) => {
    if (type !== 'message' || text === '') return []
    const from = modelCall !== undefined && { response: modelCall }
    const createdAt = settings.clock.now()
    return new Message({ id, role: 'assistant', content: text, partial: true, ...from, createdAt })
  })
}

/** The outcome has what was written, too. */
function withPartial(end: DispatchEnd, partial: readonly Message[]): DispatchEnd {
  if (partial.length === 0) return end
  return { ...end, text: partial.map(({ content }) => content?.text ?? '').join('') }
}

/** Stores the end of the turn and gives its usage: log, events and outcome have the same. */
async function closeLog(
  turn: Turn,
  { status, reason }: DispatchEnd,
  partial: readonly Message[] = [],
): Promise<TurnUsage> {
  const usage = Object.freeze(turn.tally.usage)
  try {
    const end = { status, ...(reason && { reason }), usage: usage as TurnUsage & JsonObject }
    const texts = partial.map((message): Fact => ({ kind: 'message', message }))
    await turn.log.commit([...texts, { kind: 'turn-end', end }])
  } catch (error) {
    turn.events.error(error, 'turn-end')
  }
  return usage
}

function outcomeOf(
  { tally, events, agent }: Turn,
  end: DispatchEnd,
  gates: readonly Gate[],
  usage: TurnUsage,
): TurnOutcome {
  const { text } = end
  const active = agent && { agent: agent.name }
  const facts = { text, toolCalls: tally.calls, usage, ...events.origin, gates, ...active }
  if (end.status === 'completed') return { status: end.status, ...facts, output: end.output }
  return { status: end.status, ...facts, reason: end.reason }
}
