import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import { delay } from '../../core/delay.ts'
import { randomId } from '../../core/ids.ts'
import type { SpooledArtifactConstructor } from '../../spool/artifact.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { FeedDriver } from '../feed-driver.ts'
import { invalidPosition, type Place, placeOf, positionAt } from '../position.ts'
import type { ConversationInfo, RunnerStore } from '../store.ts'
import { notFound } from '../store-errors.ts'
import { storedResults } from '../stored-results.ts'
import { Feed, type FeedSource } from './feed.ts'
import type { FeedEvent, FeedWarning } from './feed-event.ts'
import { type FeedTail, openTail } from './feed-tail.ts'
import { Inbox } from './inbox.ts'

/** Which conversation to follow, and from where. */
export interface FollowInput {
  readonly conversation: string
  /** The position of the last event that the reader has; from the first entry unless given. */
  readonly after?: string
  /** Stays when the conversation rests, and waits for one that does not exist yet; false unless given. */
  readonly live?: boolean
  /** Ends the iteration; `null` means no signal, as for `fetch`. */
  readonly signal?: AbortSignal | null
}

/** How results and attachments in the events of a feed are found again. */
export const restoreFrom = (
  store: RunnerStore,
  spool?: Pick<SpoolStore, 'read'>,
  artifacts?: readonly SpooledArtifactConstructor[],
): RestoreContext => ({ spool: storedResults(store, spool), ...(artifacts && { artifacts }) })

/** How often a reader looks for events of other processes if it gets no notifications. */
const LOOK_MS = 1000
/** The same for a store that cannot say so. */
const POLL_MS = 200

/** Everything in a conversation after a position: stored entries, then open texts, then live events. */
export async function* followFeed(
  source: FeedSource,
  { after, live = false }: Pick<FollowInput, 'after' | 'live'>,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent, void> {
  const start = after === undefined ? { seq: 0, n: 0 } : placeOf(after)
  if (!(await exists(source, start, live, signal))) return
  const feed = new Feed(source, start)
  const elsewhere = new Elsewhere(source, feed, signal)
  /** The entry after which a lost turn was reported. */
  let reported = -1
  /** Whether a reader that comes back here may know of a lost turn already: it gets that event again, but later. */
  let mayKnow = live && start.n > 0
  try {
    for (;;) {
      yield* feed.stored()
      if (signal.aborted) return
      if (feed.isHere) {
        if (!(await feed.isLevel(signal))) continue
        for await (const event of hereAndNow(feed, signal)) {
          yield event
          if (event.type === 'turnEnd' && !live) return
        }
        continue
      }
      const state = await elsewhere.state()
      if (state === 'more') continue
      if (state === 'rests' && !live) return
      if (state === 'lost' && mayKnow && feed.last.seq === start.seq) {
        mayKnow = false
      } else if (state === 'lost' && reported !== feed.last.seq) {
        reported = feed.last.seq
        yield lostTurn(source, feed)
      }
      if (state === 'lost' && !live) return
      yield* elsewhere.events()
    }
  } finally {
    await elsewhere.close()
  }
}

/** Checks that there is something to follow; waits for it if the reader wants to. */
async function exists(
  { store, conversation }: FeedSource,
  start: Place,
  live: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const beyond = (length: number) => {
    if (start.seq <= length) return
    const rule = `is beyond the end of the conversation, which has ${length} entries`
    throw invalidPosition(positionAt(start), rule)
  }
  for (;;) {
    if (signal.aborted) return false
    const info = await store.conversation(conversation)
    beyond(info?.length ?? 0)
    if (info !== undefined) return true
    if (!live) throw notFound('conversation', conversation)
    await delay(POLL_MS, signal)
  }
}

/** The events of a turn in this process. */
async function* hereAndNow(feed: Feed, signal: AbortSignal): AsyncGenerator<FeedEvent, void> {
  const inbox = new Inbox<FeedEvent>()
  const end = () => inbox.end()
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  try {
    yield* feed.live(inbox)
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** What happens in other processes, while no turn of this process holds the conversation. */
class Elsewhere {
  readonly #source: FeedSource
  readonly #feed: Feed
  readonly #signal: AbortSignal
  #tail: FeedTail | undefined

  constructor(source: FeedSource, feed: Feed, signal: AbortSignal) {
    this.#source = source
    this.#feed = feed
    this.#signal = signal
  }

  /** Where the conversation stands: a turn runs, it rests, its turn was lost, or there is more to read. */
  async state(): Promise<'runs' | 'rests' | 'lost' | 'more'> {
    const { store, conversation } = this.#source
    const info = await store.conversation(conversation)
    if (info === undefined) throw notFound('conversation', conversation)
    if (info.length > this.#feed.last.seq) return 'more'
    if (await this.#isAtRest(info)) return 'rests'
    return info.holder === undefined ? 'lost' : 'runs'
  }

  async #isAtRest({ length, holder }: ConversationInfo): Promise<boolean> {
    if (length === 0) return holder === undefined
    const { store, conversation } = this.#source
    if (this.#feed.lastEntry === undefined) {
      // The reader begins at the end of the log.
      for await (const entry of store.entries(conversation, { from: length })) {
        this.#feed.lastEntry = entry
      }
    }
    return this.#feed.lastEntry?.kind === 'turn-end'
  }

  /** Gives what streams elsewhere, until it is time to look at the log again. */
  async *events(): AsyncGenerator<FeedEvent, void> {
    const { store, live } = this.#source
    // A conversation that was just deleted takes no readers; the next look at it says so.
    if (store.feed !== undefined) this.#tail ??= await this.#open(store.feed).catch(() => undefined)
    const tail = this.#tail
    if (tail === undefined) {
      await delay(POLL_MS, this.#signal)
      return
    }
    const wake = () => tail.wake()
    // A turn may begin in this process.
    const leave = live().join({ event: wake, ended: wake }, { seq: 0, n: 1 }, 0)
    this.#signal.addEventListener('abort', wake)
    if (this.#signal.aborted) wake()
    const until = performance.now() + LOOK_MS
    try {
      for (;;) {
        const left = until - performance.now()
        const event = left > 0 ? await tail.next(left) : undefined
        if (event === undefined || event === 'entry') break
        if (placeOf(event.position).seq > this.#feed.last.seq) yield* this.#feed.stored()
        if (this.#feed.take(event)) yield event
      }
    } finally {
      leave()
      this.#signal.removeEventListener('abort', wake)
    }
    if (tail.isOverflown) await this.close()
  }

  async #open(driver: FeedDriver): Promise<FeedTail> {
    const { conversation, now } = this.#source
    return openTail(driver, conversation, { follower: randomId(), now })
  }

  async close(): Promise<void> {
    await this.#tail?.close()
    this.#tail = undefined
  }
}

/** Tells that the lease of a turn is over and its end was not stored: its process has died. */
function lostTurn({ conversation, now }: FeedSource, feed: Feed): FeedEvent & FeedWarning {
  const { seq, n } = feed.last
  feed.last = { seq, n: n + 1 }
  const { turnId = '' } = feed.lastEntry ?? {}
  const message =
    'The turn stopped without an end, as when its process dies. `recover` continues it.'
  const warning = { type: 'warning', code: 'TURN_LOST', message } as const
  return { position: positionAt(feed.last), time: now(), turnId, conversation, ...warning }
}
