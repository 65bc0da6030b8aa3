import type { Content } from '@google/genai'

/**
 * Puts turns into the order that the wire asks for: a turn with calls comes right behind a person's turn
 * or behind results, so one that follows another turn of the model's becomes part of that. What was
 * joined for an earlier part is kept: the cost is that of the turns that changed since.
 */
export class TurnJoiner {
  #entries: readonly Content[] = []
  #joined: Content[] = []
  /** For each joined turn, the first entry that it was made of. */
  #starts: number[] = []

  join(entries: readonly Content[]): readonly Content[] {
    let same = Math.min(entries.length, this.#entries.length)
    while (same > 0 && entries[same - 1] !== this.#entries[same - 1]) same--
    // The last turn may grow, so it is always made anew.
    let kept = Math.max(this.#joined.length - 1, 0)
    while (kept > 0 && (this.#starts[kept] ?? 0) >= same) kept--
    const from = this.#starts[kept] ?? 0
    this.#joined.length = kept
    this.#starts.length = kept
    for (let index = from; index < entries.length; index++) this.#add(entries[index], index)
    this.#entries = entries
    return this.#joined
  }

  #add(entry: Content | undefined, index: number): void {
    const last = this.#joined.at(-1)
    if (entry === undefined) return
    if (last?.role === 'model' && entry.role === 'model' && holdsCall(entry)) {
      const parts = [...(last.parts ?? []), ...(entry.parts ?? [])]
      this.#joined[this.#joined.length - 1] = { role: 'model', parts }
    } else {
      this.#joined.push(entry)
      this.#starts.push(index)
    }
  }
}

/** True for a turn that asks the runner for something. */
export function holdsCall({ parts = [] }: Content): boolean {
  return parts.some((part) => part.functionCall !== undefined)
}
