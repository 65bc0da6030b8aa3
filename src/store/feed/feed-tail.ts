import type { FeedDriver } from '../feed-driver.ts'
import type { FeedEvent } from './feed-event.ts'
import { Inbox } from './inbox.ts'

/** How long an announcement holds, and how often it is made again. */
const ANNOUNCED_MS = 15_000
const RENEW_MS = 5_000

/** What a turn of another process streams. */
export interface FeedTail {
  /** The next event; `entry` says that there are new entries. Undefined when nothing came within `ms`. */
  next(ms: number): Promise<FeedEvent | 'entry' | undefined>
  /** Whether more came than could wait: open another tail. */
  readonly isOverflown: boolean
  /** Wakes a reader that waits in `next`. */
  wake(): void
  close(): Promise<void>
}

/** Announces a reader to the holder of a conversation, and receives what that streams. */
export async function openTail(
  driver: FeedDriver,
  conversation: string,
  { follower, now }: { readonly follower: string; readonly now: () => number },
): Promise<FeedTail> {
  const inbox = new Inbox<FeedEvent | 'entry'>()
  const onBatch = (batch: string) => {
    const { events, isNew } = batchOf(batch)
    for (const event of events) inbox.push(event, 'delta' in event ? event.delta?.length : 0)
    if (isNew) inbox.push('entry')
  }
  const announce = () =>
    driver.announce(conversation, follower, now() + ANNOUNCED_MS).catch(() => undefined)
  await driver.announce(conversation, follower, now() + ANNOUNCED_MS)
  const stop = await driver.tail(conversation, onBatch)
  const timer = setInterval(() => void announce(), RENEW_MS)
  if (typeof timer === 'object') timer.unref()
  return {
    next: (ms) => inbox.next(ms),
    get isOverflown() {
      return inbox.isOverflown
    },
    wake: () => inbox.push('entry'),
    async close() {
      clearInterval(timer)
      inbox.end()
      await stop()
      await driver.announce(conversation, follower, 0).catch(() => undefined)
    },
  }
}

/** Streamed events, and whether there are new entries. */
interface Batch {
  readonly events: readonly FeedEvent[]
  readonly isNew: boolean
}

/** A batch comes from a file or a table that others can write to. One that cannot be read only says: look at the log. */
function batchOf(text: string): Batch {
  try {
    const { events, isNew } = Object(JSON.parse(text)) as Partial<Batch>
    if (Array.isArray(events)) return { events: events.filter(isEvent), isNew: isNew === true }
  } catch {
    // It was cut.
  }
  return { events: [], isNew: true }
}

function isEvent(value: unknown): value is FeedEvent {
  const { position, type } = Object(value) as Partial<FeedEvent>
  return typeof position === 'string' && STREAMED.includes(type as string)
}

const STREAMED: readonly string[] = ['message', 'thought', 'toolInput', 'progress', 'warning']
