import { Feed, type FeedSource } from './feed.ts'
import type { FeedEvent } from './feed-event.ts'
import { Inbox } from './inbox.ts'
import type { Place } from './position.ts'

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
    if (signal.aborted) return
    const inbox = new Inbox<FeedEvent>()
    const end = () => {
      isOver = true
      inbox.end()
    }
    over.then(end, end)
    signal.addEventListener('abort', end)
    for await (const event of feed.live(inbox)) {
      if (event.turnId !== turnId) continue
      yield event
      if (event.type === 'turnEnd') return
    }
    if (isOver && !inbox.isOverflown) return
  }
}
