import { type Place, positionAt } from '../position.ts'
import { Feed, type FeedSource } from './feed.ts'
import type { FeedEvent } from './feed-event.ts'
import { followFeed } from './follow.ts'
import { Inbox } from './inbox.ts'

/** Which turn, and the place before its first event; undefined while it has not begun. */
interface FollowedTurn {
  readonly turnId: string
  readonly after: Place | undefined
  /** Settles when the turn has ended. */
  readonly over: Promise<unknown>
}

/** The events of one turn of this process: those that are stored already, then the live ones, until it has ended. */
export async function* turnEvents(
  source: FeedSource,
  { turnId, after, over }: FollowedTurn,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent, void> {
  const feed = new Feed(source, after ?? { seq: 0, n: 0 })
  let isOver = false
  // A turn that has not begun is not in the log.
  let hasBegun = after !== undefined
  for (;;) {
    if (hasBegun) {
      for await (const event of feed.stored()) {
        if (event.turnId !== turnId) continue
        yield event
        if (event.type === 'turnEnd') return
      }
      if (isOver) return
    }
    if (hasBegun && !(await feed.isLevel(signal))) continue
    if (signal.aborted) return
    const inbox = new Inbox<FeedEvent>()
    const end = () => {
      isOver = true
      inbox.end()
    }
    over.then(end, end)
    signal.addEventListener('abort', end)
    for await (const event of feed.live(inbox, hasBegun)) {
      if (event.turnId !== turnId) continue
      yield event
      if (event.type === 'turnEnd') return
    }
    if (isOver && !hasBegun && !inbox.isOverflown) return
    hasBegun = true
  }
}

/** Which chain of turns, and the entry before the first event that is wanted. */
interface FollowedChain {
  readonly first: string
  readonly after: number
  /** Settles when the chain has ended. */
  readonly over: Promise<unknown>
}

/** How long the outcome of a chain may come after its last event. */
const OUTCOME_MS = 1000

/** The events of a chain of turns, in whatever processes they run, until it has ended. */
export async function* chainEvents(
  source: FeedSource,
  { first, after, over }: FollowedChain,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent, void> {
  const left = new AbortController()
  let isOver = false
  const end = () => {
    isOver = true
    // The last events may still be on their way.
    setTimeout(() => left.abort(), OUTCOME_MS).unref?.()
  }
  const ending = over.then(end, end)
  const position = positionAt({ seq: after, n: 0 })
  const both = AbortSignal.any([signal, left.signal])
  const turns = new Set([first])
  for await (const event of followFeed(source, { after: position, live: true }, both)) {
    if (event.type === 'turnStart' && event.continues === first) turns.add(event.turnId)
    if (!turns.has(event.turnId)) {
      // The turn that is joined may be a continuation whose start is before.
      if (event.type === 'turnStart') continue
      if (turns.size > 1 || !(await isContinuation(source, event.turnId, first))) continue
      turns.add(event.turnId)
    }
    yield event
    if (event.type !== 'turnEnd') continue
    await Promise.race([ending, new Promise((resolve) => setTimeout(resolve, OUTCOME_MS))])
    if (isOver) return
  }
}

async function isContinuation(
  { store, conversation }: FeedSource,
  turnId: string,
  first: string,
): Promise<boolean> {
  return (await store.get(conversation, 'turn-start', turnId))?.data.continues === first
}
