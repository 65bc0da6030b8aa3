import { hmacSha256 } from '#hash'
import type { Reading } from '../prompt/rendered-part.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import { DEFAULT_LEASE_MS, type Lease } from '../store/store.ts'
import { Conversation } from './conversation.ts'
import type { EventBus } from './event-bus.ts'
import { requireHeld, requireStillHeld } from './held-parent.ts'
import { type Interruption, interruptionOf } from './interruption.ts'
import { loadConversation } from './load-conversation.ts'
import { presentationOf } from './presentation.ts'
import { RepeatGuard } from './repeat-guard.ts'
import type { RunnerSettings } from './runner-options.ts'
import { secretScrubber } from './secret-scrubber.ts'
import { resultSpool } from './small-results.ts'
import type { OutputShape } from './structured-output.ts'
import type { Turn } from './turn.ts'
import { turnContext } from './turn-context.ts'
import type { EventOrigin, FunctionalEvents, ObservedEvents } from './turn-events.ts'
import { TurnRequest } from './turn-request.ts'
import { NO_USAGE } from './turn-usage.ts'

/** What a turn is opened with. */
export interface TurnSeed {
  /** A new one unless given. */
  readonly conversation?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly output?: OutputShape | undefined
  /** Takes the conversation although another runner's lease still runs. */
  readonly force?: boolean | undefined
  /** The turn around this one, when it runs inside a call. */
  readonly parent?: Turn
}

export interface Buses {
  readonly content: EventBus<FunctionalEvents>
  readonly observed: EventBus<ObservedEvents>
}

/** A turn that holds its conversation until `close`. */
export interface OpenedTurn {
  readonly turn: Turn
  close(): Promise<void>
}

/** Becomes the one runner of the conversation, reads it, and sets up everything a turn needs. */
export async function openTurn(
  settings: RunnerSettings,
  buses: Buses,
  seed: TurnSeed & { readonly conversation: string },
): Promise<OpenedTurn> {
  const { store, ids, clock } = settings
  const { conversation: id, parent } = seed
  const key = settings.secret && hmacSha256(settings.secret, `bobbin/conversation/1\n${id}`)
  // Whoever holds the outer conversation holds the inner one too: only a dead process can be in the way.
  const force = seed.force === true || parent !== undefined
  if (parent !== undefined) await requireHeld(parent)
  const lease = await store.acquire(id, { owner: 'runner', force, ...(key && { key }) })
  const interruption = interruptionOf(id, seed.signal, settings.limits.maxTimeMs)
  const beat = keepAlive(settings, lease, interruption)
  const close = () => {
    interruption.clear()
    return release(settings, lease, beat)
  }
  try {
    const secret = key ?? (await store.key(id))
    const turnId = ids()
    const origin = Object.freeze({ turnId, conversation: id })
    const results = resultSpool(store, settings.spool)
    const presentation = presentationOf(secret, id, readingOf(interruption, buses, origin))
    const parts = { store, results, presentation, artifacts: settings.artifacts }
    const conversation = lease.created
      ? new Conversation(id, lease.epoch, parts)
      : await loadConversation(id, lease.epoch, parts)
    if (parent !== undefined) conversation.lowerTrustUnrecorded(parent.conversation.taint)
    const { signal } = interruption
    const guard = new RepeatGuard(settings.repeat)
    const request = new TurnRequest(settings, conversation, presentation)
    const turn: Turn = {
      id: turnId,
      responsePrefix: `${turnId}/`,
      settings,
      conversation,
      results,
      presentation,
      scrubber: secretScrubber(settings.secrets),
      request,
      signal,
      interruption,
      startedAt: clock.now(),
      guard,
      origin,
      ...buses,
      ctx: turnContext({
        turnId,
        signal,
        output: seed.output?.request,
        conversation,
        request,
        guard,
        secret,
        tools: settings.tools,
        iteration: () => turn.iteration,
      }),
      iteration: 0,
      settled: new Map(),
      order: [],
      usage: NO_USAGE,
      warned: new Set(),
      parent,
      depth: parent === undefined ? 0 : parent.depth + 1,
    }
    const data = parent === undefined ? NO_PARENT : { parent: Object.freeze({ ...parent.origin }) }
    await conversation.append([LastingEntry.of('turn-start', turnId, Object.freeze(data))])
    // Whoever deletes the outer conversation finds this one from here on, and may have looked before.
    if (parent !== undefined) await requireStillHeld(parent, store, id)
    return { turn, close }
  } catch (error) {
    await close()
    throw error
  }
}

const NO_PARENT = {}

/** What cannot be read is told to observers; what takes too long is not waited for once the turn is cut off. */
const readingOf = (
  { signal, watch }: Interruption,
  { observed }: Buses,
  origin: EventOrigin,
): Reading => ({
  onFault: (error) => observed.emit('error', { error, where: 'read' }, origin),
  untilOver: (work, otherwise) =>
    watch.orAborted(work).catch((error: unknown) => {
      if (signal.aborted) return otherwise()
      throw error
    }),
})

/** Shows signs of life while the turn works. Losing the conversation aborts the turn. */
function keepAlive({ store }: RunnerSettings, lease: Lease, interruption: Interruption) {
  const renew = async () => {
    try {
      await store.renew(lease.conversation, lease.epoch)
    } catch (error) {
      // A store that is out of reach for a moment does no harm: the epoch keeps the log safe.
      interruption.lose(error)
    }
  }
  const timer = setInterval(() => void renew(), DEFAULT_LEASE_MS / 3)
  // A turn that hangs must not keep the process alive by itself.
  if (typeof timer === 'object') timer.unref()
  return timer
}

async function release(
  { store }: RunnerSettings,
  { conversation, epoch }: Lease,
  beat: ReturnType<typeof setInterval>,
): Promise<void> {
  clearInterval(beat)
  try {
    await store.release(conversation, epoch)
  } catch {
    // The lease runs out by itself.
  }
}
