import { isBobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { Gate } from '../store/gate.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import { dispatch } from './dispatch.ts'
import { errorText } from './error-text.ts'
import { type Fault, faultOf } from './fault.ts'
import { diedEarly, isAnswered, lastAnswer } from './log-tail.ts'
import { layersOf, wrap } from './middleware.ts'
import { type Buses, type OpenedTurn, openTurn, type TurnSeed } from './open-turn.ts'
import {
  type DispatchEnd,
  failed,
  failure,
  type StopReason,
  SUSPENDED,
  stopped,
  type TurnOutcome,
  type TurnUsage,
} from './outcome.ts'
import { settleDoubts } from './reconcile.ts'
import type { RunnerSettings } from './runner-options.ts'
import { ofStore } from './store-failure.ts'
import { outputOf } from './structured-output.ts'
import type { Turn } from './turn.ts'
import { NO_USAGE } from './turn-usage.ts'
import { finishUnsettled, type UnsettledPolicy } from './unsettled.ts'

/** What sets turns apart: what becomes of old calls, and what comes in before the dispatch. */
export interface TurnPlan {
  readonly policy: UnsettledPolicy
  readonly begin?: (turn: Turn) => Promise<void>
  /** Hears of the turn when it has ended. */
  readonly onEnd?: (turn: Turn) => void
}

/** Takes the conversation, runs one turn on it to its end, and gives the conversation free. */
export async function runTurn(
  settings: RunnerSettings,
  buses: Buses,
  seed: TurnSeed,
  plan: TurnPlan,
): Promise<TurnOutcome> {
  const id = seed.conversation ?? settings.ids()
  let opened: OpenedTurn
  try {
    opened = await openTurn(settings, buses, { ...seed, conversation: id })
  } catch (error) {
    // Who holds the conversation, or what is wrong with its name, is the caller's concern. Any other error is
    // the store's, which may be the application's own and speak in words of its own. A conversation that is not
    // there was just taken, so that somebody deleted it since: that is no fault of the caller's either.
    const isDeleted = isBobbinError(error, 'E_NOT_FOUND')
    if (isBobbinError(error) && faultOf(error) !== 'store' && !isDeleted) throw error
    return notOpened(buses, id, error)
  }
  const { turn, close } = opened
  try {
    return await throughLayers(turn, () => turnOutcome(turn, seed, plan))
  } finally {
    plan.onEnd?.(turn)
    await close()
  }
}

/** The end of a turn that never began: the store failed, or another runner was faster. */
function notOpened({ observed }: Buses, conversation: string, error: unknown): TurnOutcome {
  const origin = Object.freeze({ turnId: '', conversation })
  observed.emit('error', { error, where: 'open' }, origin)
  return {
    status: 'failed',
    text: '',
    output: undefined,
    toolCalls: [],
    usage: NO_USAGE,
    ...origin,
    gates: [],
    reason: failure('STORE_FAILED', error),
  }
}

/** A layer that throws fails the turn; what the inside came to is kept beside it. */
async function throughLayers(turn: Turn, core: () => Promise<TurnOutcome>): Promise<TurnOutcome> {
  const layers = layersOf(turn.settings.middleware, 'turn')
  let inner: TurnOutcome | undefined
  try {
    const run = async () => (inner = await core())
    const given: unknown = await wrap(layers, turn.ctx, run, turn.signal)
    if (!isOutcome(given)) throw new Error('It gave no outcome: give back what `next` gives.')
    // A layer that answers by itself has ended the turn as much as any other.
    if (inner === undefined) await closeLog(turn, given)
    return given
  } catch (error) {
    const end = brokenLayer(turn, error)
    if (inner !== undefined) return { ...inner, ...end, text: inner.text }
    return outcomeOf(turn, end, [], await closeLog(turn, end))
  }
}

const isOutcome = (given: unknown): given is TurnOutcome =>
  typeof given === 'object' && given !== null && 'status' in given

async function turnOutcome(turn: Turn, seed: TurnSeed, plan: TurnPlan): Promise<TurnOutcome> {
  const { observed, origin, settings } = turn
  observed.emit('turnStart', { startedAt: turn.startedAt }, origin)
  let gates: readonly Gate[] = []
  const end = await guarded(turn, async () => {
    const worked = await work(turn, plan)
    if (worked.status === 'suspended') {
      gates = await ofStore(() => settings.store.openGates(turn.conversation.id))
    }
    return worked
  })
  const checked = await outputOf(end, seed.output, turn.interruption)
  const usage = await closeLog(turn, checked)
  // Clocks are set back now and then.
  const durationMs = Math.max(0, settings.clock.now() - turn.startedAt)
  observed.emit('turnEnd', { status: checked.status, durationMs, usage }, origin)
  return outcomeOf(turn, checked, gates, usage)
}

async function work(turn: Turn, { policy, begin }: TurnPlan): Promise<DispatchEnd> {
  const { tail, items, unsettled } = turn.conversation
  const isEmpty = unsettled.size === 0 && diedEarly(tail)
  if (isEmpty && policy === 'recover') return NOTHING_LEFT
  const isOver = policy !== 'abandon' && isAnswered(tail, items)
  if (await finishUnsettled(turn, policy)) return SUSPENDED
  if (policy === 'recover') await settleDoubts(turn)
  if (isOver) return { status: 'completed', text: lastAnswer(items) }
  await begin?.(turn)
  const { observed, origin } = turn
  observed.emit('dispatchStart', { tools: turn.settings.tools.names }, origin)
  let end: DispatchEnd = NOT_REACHED
  try {
    const layers = layersOf(turn.settings.middleware, 'dispatch')
    const core = async () => {
      end = await guarded(turn, () => dispatch(turn))
    }
    await wrap(layers, turn.ctx, core, turn.signal)
  } catch (error) {
    end = brokenLayer(turn, error)
  }
  observed.emit('dispatchEnd', { iterations: turn.iteration }, origin)
  return end
}

const NOTHING_LEFT = stopped({
  code: 'NOTHING_LEFT',
  message:
    'Nothing was left to recover: the process ended before its message was stored. Run it again.',
})

const NOT_REACHED = stopped({
  code: 'MIDDLEWARE',
  message: 'A layer of middleware ended the dispatch without going inside.',
})

function brokenLayer(turn: Turn, error: unknown): DispatchEnd {
  if (turn.signal.aborted && error === turn.signal.reason) return turn.interruption.end()
  turn.observed.emit('error', { error, where: 'middleware' }, turn.origin)
  return failed(failure('MIDDLEWARE', error, `Middleware failed: ${errorText(error)}`))
}

/** Errors never hide: whatever escapes the work becomes the turn's end. */
async function guarded(turn: Turn, task: () => Promise<DispatchEnd>): Promise<DispatchEnd> {
  try {
    return await task()
  } catch (error) {
    if (turn.signal.aborted) return turn.interruption.end()
    turn.observed.emit('error', { error, where: 'turn' }, turn.origin)
    return failed(failure(failureCode(error), error))
  }
}

const failureCode = (error: unknown) => FAILURE_CODES[faultOf(error)]

const FAILURE_CODES = {
  store: 'STORE_FAILED',
  refused: 'STORE_FAILED',
  model: 'MODEL_FAILED',
  other: 'EXECUTOR_FAILED',
} as const satisfies Record<Fault, StopReason['code']>

/** Stores how the turn ended and gives what it cost: log, events and outcome say the same. */
async function closeLog(turn: Turn, { status, reason }: DispatchEnd): Promise<TurnUsage> {
  // What never changes again need not be copied into the log.
  const usage = Object.freeze(turn.usage)
  try {
    const json = usage as TurnUsage & JsonObject
    const data = { status, ...(reason && { reason: Object.freeze({ ...reason }) }), usage: json }
    await turn.conversation.append([LastingEntry.of('turn-end', turn.id, Object.freeze(data))])
  } catch (error) {
    turn.observed.emit('error', { error, where: 'turn-end' }, turn.origin)
  }
  return usage
}

function callsInOrder({ order, settled }: Turn): readonly ToolCall[] {
  const calls: ToolCall[] = []
  for (const id of order) {
    const call = settled.get(id)
    if (call !== undefined) calls.push(call)
  }
  return calls
}

function outcomeOf(
  turn: Turn,
  end: DispatchEnd & { output?: unknown },
  gates: readonly Gate[],
  usage: TurnUsage,
): TurnOutcome {
  return {
    status: end.status,
    text: end.text,
    output: end.output,
    toolCalls: callsInOrder(turn),
    usage,
    conversation: turn.conversation.id,
    turnId: turn.id,
    gates,
    ...(end.reason && { reason: end.reason }),
  }
}
