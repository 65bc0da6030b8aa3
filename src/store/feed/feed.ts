import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import type { Entry } from '../entry.ts'
import { comparePlaces, type Place, placeOf, positionAt } from '../position.ts'
import type { RunnerStore } from '../store.ts'
import { contentOf } from './entry-content.ts'
import type { FeedEvent } from './feed-event.ts'
import type { Inbox } from './inbox.ts'
import type { LiveFeed } from './live-feed.ts'

/** Where a feed comes from: the log, and its live end. */
export interface FeedSource {
  readonly store: RunnerStore
  readonly conversation: string
  /** The live end in this process; ask each time, because an idle one is forgotten. */
  readonly live: () => LiveFeed
  readonly restore: RestoreContext
  readonly now: () => number
}

/** The event of a stored entry; undefined if it has none. */
async function eventOf(source: FeedSource, entry: Entry): Promise<FeedEvent | undefined> {
  const { store, conversation, restore } = source
  const closed = entry.kind === 'gate-closed' ? entry.data.id : undefined
  const gate = closed === undefined ? undefined : await store.gate(conversation, closed)
  const content = contentOf(entry, { ...restore, conversation, gate: () => gate })
  if (content === undefined) return undefined
  const { seq, time, turnId } = entry
  const position = positionAt({ seq, n: 0 })
  return Object.freeze({ position, time, turnId, conversation, ...content })
}

/** One reader of a feed, and how far it has come. */
export class Feed {
  /** The place of the last entry or event that was given. */
  last: Place
  /** The last entry that was read. */
  lastEntry: Pick<Entry, 'kind' | 'turnId'> | undefined
  readonly #source: FeedSource
  /** The holder that wrote the last entry. */
  #epoch = 0
  /** The last place where this reader was at the live end; see `LiveFeed.join`. */
  #seen: Place

  constructor(source: FeedSource, after: Place) {
    this.#source = source
    this.last = after
    this.#seen = after
  }

  /** The stored events after the last one. */
  async *stored(): AsyncGenerator<FeedEvent, void> {
    const { store, conversation } = this.#source
    for await (const entry of store.entries(conversation, { from: this.last.seq + 1 })) {
      this.last = { seq: entry.seq, n: 0 }
      this.lastEntry = entry
      this.#epoch = entry.epoch
      const event = await eventOf(this.#source, entry)
      if (event !== undefined) yield event
    }
  }

  /** Whether a turn of this process holds the conversation. One that lost it may not know it yet: the log does. */
  get isHere(): boolean {
    const { writer } = this.#source.live()
    return writer !== undefined && writer.epoch >= this.#epoch
  }

  /** Whether the log was read up to the live end. Waits for the live end if the log is ahead of it. */
  async isLevel(signal: AbortSignal): Promise<boolean> {
    const isBehind = () => this.isHere && this.#source.live().seq < this.last.seq
    while (isBehind() && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1))
    return !this.isHere || this.#source.live().seq === this.last.seq
  }

  /**
   * The live events of this process after the last one, until the inbox ends. Gives none if the log has more by now. A turn that
   * has not begun has nothing in the log.
   */
  async *live(inbox: Inbox<FeedEvent>, hasBegun = true): AsyncGenerator<FeedEvent, void> {
    // No step may come between this look and `join`: an event in between would be lost.
    if (hasBegun && this.isHere && this.#source.live().seq !== this.last.seq) return
    const reader = {
      event: (event: FeedEvent) =>
        inbox.push(event, 'delta' in event ? (event.delta?.length ?? 0) : 0),
      ended: () => inbox.end(),
    }
    const leave = this.#source.live().join(reader, this.#seen, this.#source.now())
    try {
      for (;;) {
        const event = await inbox.next()
        if (event === undefined) return
        if (this.take(event)) yield event
      }
    } finally {
      leave()
    }
  }

  /** Whether an event comes after the last one; it is the last one then. */
  take(event: FeedEvent): boolean {
    const place = placeOf(event.position)
    if (comparePlaces(place, this.last) <= 0) return false
    this.last = place
    this.#seen = place
    if (event.type === 'turnEnd') {
      this.lastEntry = { kind: 'turn-end', turnId: event.turnId }
    } else if (place.n === 0) this.lastEntry = { kind: 'note', turnId: event.turnId }
    return true
  }
}

/** An iteration over a feed. `return` ends it at once, also while a `next` waits. */
export function feedIteration(
  generate: (signal: AbortSignal) => AsyncGenerator<FeedEvent, void>,
): AsyncIterableIterator<FeedEvent, void> {
  const left = new AbortController()
  const events = generate(left.signal)
  const leave = async () => {
    left.abort()
    await events.return()
    return { done: true, value: undefined } as const
  }
  return {
    next: () => events.next(),
    return: leave,
    throw: leave,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
