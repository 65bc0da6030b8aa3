import { isBobbinError } from '../../core/error/error.ts'
import { isTransient } from '../../model/transient-failure.ts'
import type { FunctionalEvents } from '../events/turn-events.ts'
import type { ExecutorDecision, ExecutorHelpers } from '../executor/executor.ts'
import { errorText } from '../limits/failure.ts'
import { priceOf } from '../limits/prices.ts'
import { RoundTrips } from './round-trips.ts'
import type { Turn } from './turn.ts'
import type { Amount } from './turn-tally.ts'

/** A decision, and the ids of events for the ids under which its executor streamed. */
export interface Decided {
  readonly decision: ExecutorDecision
  /** The id of the model call that gave it, and of its response. */
  readonly modelCall: string
  readonly streamId: (id: string) => string
  /** The requests to models that led to it. */
  readonly trips: RoundTrips
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 60_000

/**
 * Asks the executor; a model that failed before any of its calls was admitted may be asked again. An
 * executor that ignores an abort is left behind.
 */
export async function decide(turn: Turn): Promise<Decided> {
  const { settings, ctx, events } = turn
  const { signal, watch } = turn.interruption
  let kept = keptIn(turn)
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    const streamId = streamIds(turn, attempt)
    const modelCall = modelCallId(turn, attempt)
    const { iteration } = turn.tally
    const trips = new RoundTrips(turn, { id: modelCall, iteration, attempt: attempt + 1 })
    const input = nextInput(turn)
    turn.tally.hold(input, 1)
    try {
      // Rules without a promise are welcome, whatever the type says.
      const ways = helpers(turn, streamId, modelCall, trips, kept)
      const executor = turn.agent?.executor ?? settings.executor
      const deciding = (async () => executor(ctx, ways))()
      return { decision: await watch.orAborted(deciding), modelCall, streamId, trips }
    } catch (error) {
      await turn.log.commit(trips.failed(error))
      // A response that broke off may continue at the provider. If it does not, the next try asks anew.
      kept = kept === undefined ? trips.kept : undefined
      if (attempt >= settings.retries || signal.aborted || !isTransient(error)) throw error
      const message = `The model call failed and is tried again: ${errorText(error)}`
      events.dropTexts()
      events.warn({ code: 'MODEL_RETRY', message })
      // Ends with an abort even if the application's `sleep` ignores the signal.
      await watch.orAborted((async () => settings.sleep(pauseAfter(error, attempt), signal))())
    } finally {
      turn.tally.hold(input, -1)
    }
  }
}

/** The response that an earlier turn left at its provider. */
function keptIn({ prefix }: Turn): RoundTrips['kept'] {
  const { api, provider, model, continuation: token, digests } = prefix.inFlight ?? {}
  const digest = digests?.request
  if (!api || !provider || !model || token === undefined || digest === undefined) return undefined
  return { api, provider, model, token, digest }
}

/** The input of the next model call, at the highest price that may apply. */
export function nextInput({ request: { tokens }, settings: { models, prices } }: Turn): Amount {
  const price = Math.max(0, ...models.map((model) => priceOf(prices, model)?.input ?? 0))
  return { tokens, cost: (tokens * price) / 1_000_000 }
}

/** As long as the provider asks for, up to a limit. */
export function pauseAfter(error: unknown, attempt: number): number {
  const { retryAfterMs } = (isBobbinError(error) ? error.data : {}) as { retryAfterMs?: number }
  return Math.min(retryAfterMs ?? FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS)
}

/** Each attempt has its own ids, so that a listener can drop the pieces of a failed one. */
function streamIds({ events, tally: { iteration } }: Turn, attempt: number): Decided['streamId'] {
  const { turnId } = events.origin
  return (id) => `${turnId}/${iteration}.${attempt}/${id}`
}

/** Each attempt is a model call of its own. */
function modelCallId({ events, tally: { iteration } }: Turn, attempt: number): string {
  const first = `${events.origin.turnId}/${iteration}`
  return attempt === 0 ? first : `${first}.${attempt}`
}

function helpers(
  { events }: Turn,
  streamId: Decided['streamId'],
  modelCall: string,
  trips: RoundTrips,
  kept: RoundTrips['kept'],
): ExecutorHelpers {
  let modelCalls = 0
  const stream =
    <Name extends 'message' | 'thought' | 'toolInput'>(name: Name) =>
    (piece: FunctionalEvents[Name]) =>
      events.content(name, { ...piece, id: streamId(piece.id) }, modelCall)
  return {
    message: stream('message'),
    thought: stream('thought'),
    toolInput: stream('toolInput'),
    modelCall: () => {
      modelCalls++
      return modelCalls === 1 ? '' : `${modelCalls}/`
    },
    kept: ({ api, provider, model }) =>
      kept?.api === api && kept.provider === provider && kept.model === model ? kept : undefined,
    roundTrip: (model, fallback) => trips.open(model, fallback),
    modelFallback: ({ from, to, error }) => {
      const message = `\`${from.model}\` failed, and \`${to.model}\` is asked instead: ${errorText(error)}`
      events.observed('warning', { code: 'MODEL_FALLBACK', message })
    },
    // Each request is encoded whole, so its model repairs the same places again.
    historyRepair: (repair) => {
      const { kind, item, message } = repair
      if (kind === 'dead-thinking') {
        return events.warnOnce(kind, { code: 'THINKING_LEFT_OUT', message })
      }
      events.observedOnce(`${kind} ${item} ${message}`, 'historyRepair', { ...repair })
    },
  }
}
