import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import type { SpooledArtifactConstructor } from '../../spool/artifact.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { Entry } from '../entry.ts'
import type { Store } from '../store.ts'
import { storedResults } from '../stored-results.ts'
import { contentOf } from './entry-content.ts'
import type { FeedEvent } from './feed-event.ts'
import { Inbox } from './inbox.ts'
import type { LiveFeed } from './live-feed.ts'
import { comparePlaces, type Place, placeOf, positionAt } from './position.ts'

/** Where a feed comes from: the log, and its live end. */
export interface FeedSource {
  readonly store: Store
  readonly conversation: string
  readonly feed: LiveFeed
  readonly restore: RestoreContext
  readonly now: () => number
}

/** How results and attachments in the events of a feed are found again. */
export const restoreFrom = (
  store: Store,
  spool?: Pick<SpoolStore, 'read'>,
  artifacts?: readonly SpooledArtifactConstructor[],
): RestoreContext => ({ spool: storedResults(store, spool), ...(artifacts && { artifacts }) })

/** The event of a stored entry; undefined if it has none. */
async function eventOf(source: FeedSource, entry: Entry): Promise<FeedEvent | undefined> {
  const { store, conversation, restore } = source
  const closed = entry.kind === 'gate-closed' ? entry.data.id : undefined
  const gate = closed === undefined ? undefined : await store.gate(conversation, closed)
  const content = contentOf(entry, { ...restore, conversation, gate: () => gate })
  if (content === undefined) return undefined
  const { seq, time, turnId } = entry
  return Object.freeze({
    position: positionAt({ seq, n: 0 }),
    time,
    turnId,
    conversation,
    ...content,
  })
}

/** Everything after a place: what is stored, then what is open, then what happens. */
class Feed {
  /** The place of the last event that was given. */
  last: Place
  readonly #source: FeedSource
  /** The last place where this reader was at the live end; see `LiveFeed.join`. */
  #seen: Place

  constructor(source: FeedSource, after: Place) {
    this.#source = source
    this.last = after
    this.#seen = after
  }

  /** The stored events after the last one. */
  async *stored(): AsyncGenerator<FeedEvent> {
    const { store, conversation } = this.#source
    for await (const entry of store.entries(conversation, { from: this.last.seq + 1 })) {
      this.last = { seq: entry.seq, n: 0 }
      const event = await eventOf(this.#source, entry)
      if (event !== undefined) yield event
    }
  }

  /** Whether the log was read as far as the live end has told it. Waits for the live end if that is behind. */
  async isLevel(): Promise<boolean> {
    const { feed } = this.#source
    while (feed.isWriting && feed.seq < this.last.seq) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return !feed.isWriting || feed.seq === this.last.seq
  }

  /** The live events after the last one, until the inbox ends. Call it in the same step as `isLevel`. */
  async *live(inbox: Inbox): AsyncGenerator<FeedEvent, void> {
    const leave = this.#source.feed.join(inbox.push, this.#seen, this.#source.now())
    try {
      for (;;) {
        const event = await inbox.next()
        if (event === undefined) return
        const place = placeOf(event.position)
        if (comparePlaces(place, this.last) <= 0) continue
        this.last = place
        this.#seen = place
        yield event
      }
    } finally {
      leave()
    }
  }
}

/**
 * The events of one turn of this process: those that are stored already, then the live ones, until it has ended. A turn
 * that has not begun is not in the log yet.
 */
export async function* turnEvents(
  source: FeedSource,
  turn: { readonly turnId: string; readonly after: Place | undefined },
  over: Promise<unknown>,
): AsyncGenerator<FeedEvent, void> {
  const { turnId, after } = turn
  const feed = new Feed(source, after ?? { seq: 0, n: 0 })
  let isOver = false
  let isStored = after === undefined
  for (;;) {
    if (!isStored) {
      for await (const event of feed.stored()) {
        if (event.turnId !== turnId) continue
        yield event
        if (event.type === 'turnEnd') return
      }
      if (isOver) return
    }
    isStored = false
    if (!(await feed.isLevel())) continue
    const inbox = new Inbox()
    const end = () => {
      isOver = true
      inbox.end()
    }
    over.then(end, end)
    const live = feed.live(inbox)
    for await (const event of live) {
      if (event.turnId !== turnId) continue
      yield event
      if (event.type === 'turnEnd') return
    }
    if (!inbox.isOverflown) return
  }
}
