import { blocksOf } from './server-tools.ts'
import type { BlockParam, MessageParam } from './wire.ts'

/**
 * Joins neighbouring user messages into one, so that results come first and in one message. What was
 * joined for an earlier part is kept: the cost is that of the messages that changed since.
 */
export class MessageJoiner {
  #entries: readonly MessageParam[] = []
  #joined: MessageParam[] = []
  /** For each joined message, the first entry that it was made of. */
  #starts: number[] = []

  join(entries: readonly MessageParam[]): MessageParam[] {
    const kept = this.#keep(entries)
    const from = this.#starts[kept] ?? 0
    this.#joined.length = kept
    this.#starts.length = kept
    entries.slice(from).forEach((entry, index) => this.#add(entry, from + index))
    this.#entries = entries
    return this.#joined.slice()
  }

  /** How many joined messages are made of entries that are all still the same. */
  #keep(entries: readonly MessageParam[]): number {
    let same = Math.min(entries.length, this.#entries.length)
    while (same > 0 && entries[same - 1] !== this.#entries[same - 1]) same--
    // The last message may grow, so it is always made anew.
    let kept = this.#joined.length - 1
    while (kept > 0 && (this.#starts[kept] ?? 0) >= same) kept--
    return Math.max(kept, 0)
  }

  #add(entry: MessageParam, index: number): void {
    const last = this.#joined.at(-1)
    if (last?.role === 'user' && entry.role === 'user') {
      const content = [...asBlocks(last), ...asBlocks(entry)]
      // Two results of strays can meet here with a text between them.
      const results = content.filter(({ type }) => type === 'tool_result')
      const others = content.filter(({ type }) => type !== 'tool_result')
      this.#joined[this.#joined.length - 1] = { role: 'user', content: [...results, ...others] }
    } else {
      this.#joined.push(entry)
      this.#starts.push(index)
    }
  }
}

function asBlocks(message: MessageParam): readonly BlockParam[] {
  const { content } = message
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return blocksOf(message) as readonly BlockParam[]
}
