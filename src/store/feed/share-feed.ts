import type { FeedDriver } from '../feed-driver.ts'
import type { FeedEvent } from './feed-event.ts'
import type { LiveFeed } from './live-feed.ts'

/** A batch is sent after this time, or with this many characters. */
const BATCH_MS = 50
const BATCH_CHARS = 4096

/** What streams in a turn of this process, on its way to readers in others. */
export interface SharedFeed {
  /** Sends through the store only while a reader follows. */
  toFollowers(isFollowed: boolean): void
  /** The turn has ended: the entries have everything now. */
  close(): Promise<void>
}

/** Shares a live feed through its store, in batches. A store that fails loses batches, and never the turn. */
export function shareFeed(
  driver: FeedDriver,
  feed: LiveFeed,
  { conversation, epoch, now }: SharedTurn,
): SharedFeed {
  let leave: (() => void) | undefined
  let batch: FeedEvent[] = []
  let isNew = false
  let chars = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending = Promise.resolve()
  let hasSent = false

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (batch.length === 0 && !isNew) return
    const body = JSON.stringify({ events: batch, isNew })
    batch = []
    chars = 0
    isNew = false
    hasSent = true
    sending = sending.then(() => driver.send(conversation, epoch, body)).catch(() => undefined)
  }
  const later = () => {
    timer ??= setTimeout(flush, BATCH_MS)
    if (chars > BATCH_CHARS) flush()
  }
  const reader = {
    event(event: FeedEvent) {
      if (event.position.endsWith('.0')) {
        isNew = true
        // A reader who begins with this entry needs the texts that stay open after it.
        if (feed.hasOpen) queueMicrotask(join)
      } else {
        batch.push(event)
        chars += 'delta' in event ? (event.delta?.length ?? 0) + 100 : 200
      }
      later()
    },
    ended: flush,
  }
  const join = () => {
    if (leave === undefined) return
    leave()
    leave = feed.join(reader, { seq: 0, n: 0 }, now())
  }

  return {
    toFollowers(isFollowed) {
      if (isFollowed === (leave !== undefined)) return
      if (isFollowed) {
        leave = feed.join(reader, { seq: 0, n: 0 }, now())
        return
      }
      leave?.()
      leave = undefined
      flush()
    },
    async close() {
      flush()
      leave?.()
      leave = undefined
      clearTimeout(timer)
      await sending
      if (hasSent) await driver.clear(conversation, epoch).catch(() => undefined)
    },
  }
}

interface SharedTurn {
  readonly conversation: string
  readonly epoch: number
  readonly now: () => number
}
