/** How many items may wait for a slow reader, and how many characters of text. */
const MAX_ITEMS = 4096
const MAX_CHARS = 4 * 1024 * 1024

/** Items that wait for one reader. It holds a bounded number: a slow reader never slows the turn. */
export class Inbox<Item> {
  /** Set when the reader was too slow: it must read the log again. */
  isOverflown = false
  #isOver = false
  #items: Item[] = []
  /** The next items, last first: `shift` on a long list is slow. */
  #ahead: Item[] = []
  #chars = 0
  #wake: (() => void) | undefined

  push(item: Item, chars = 0): void {
    if (this.#isOver) return
    this.#chars += chars
    if (this.#items.length >= MAX_ITEMS || this.#chars > MAX_CHARS) {
      this.#items = []
      this.#ahead = []
      this.isOverflown = true
      this.end()
      return
    }
    this.#items.push(item)
    this.#wake?.()
  }

  /** Nothing comes any more; what waits is still given. */
  end(): void {
    this.#isOver = true
    this.#wake?.()
  }

  /** The next item; undefined at the end, or when nothing came within `ms`. */
  async next(ms?: number): Promise<Item | undefined> {
    for (let isLate = false; ; ) {
      const item = this.#take()
      if (item !== undefined || this.#isOver || isLate) return item
      let timer: ReturnType<typeof setTimeout> | undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        if (ms === undefined) return
        timer = setTimeout(() => {
          isLate = true
          resolve()
        }, ms)
      })
      clearTimeout(timer)
      this.#wake = undefined
    }
  }

  #take(): Item | undefined {
    if (this.#ahead.length === 0) {
      this.#ahead = this.#items.reverse()
      this.#items = []
      this.#chars = 0
    }
    return this.#ahead.pop()
  }
}
