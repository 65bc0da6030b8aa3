import type { FeedEvent } from './feed-event.ts'

/** How many events may wait for a slow reader, and how many characters of streamed text. */
const MAX_EVENTS = 4096
const MAX_CHARS = 4 * 1024 * 1024

/** Events that wait for one reader. It holds a bounded number: a slow reader never slows the turn. */
export class Inbox {
  #events: FeedEvent[] = []
  /** The next events, last first: `shift` on a long list is slow. */
  #ahead: FeedEvent[] = []
  #chars = 0
  #isOver = false
  #wake: (() => void) | undefined

  /** Set when the reader was too slow: it must read the log again. */
  isOverflown = false

  readonly push = (event: FeedEvent): void => {
    if (this.#isOver) return
    this.#chars += 'delta' in event ? (event.delta?.length ?? 0) : 0
    if (this.#events.length >= MAX_EVENTS || this.#chars > MAX_CHARS) {
      this.#events = []
      this.#ahead = []
      this.isOverflown = true
      this.end()
      return
    }
    this.#events.push(event)
    this.#wake?.()
  }

  /** Nothing comes any more; what waits is still given. */
  end(): void {
    this.#isOver = true
    this.#wake?.()
  }

  /** The next event; undefined at the end. */
  async next(): Promise<FeedEvent | undefined> {
    for (;;) {
      const event = this.#take()
      if (event !== undefined || this.#isOver) return event
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
  }

  #take(): FeedEvent | undefined {
    if (this.#ahead.length === 0) {
      this.#ahead = this.#events.reverse()
      this.#events = []
      this.#chars = 0
    }
    return this.#ahead.pop()
  }
}
