import type { Content } from '@google/genai'

/**
 * Puts turns into the order that the wire asks for: a turn with calls comes right behind a person's turn
 * or behind results, so other turns of the model's right before it become part of it. What was
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
    if (entry === undefined) return
    let turn = entry
    let start = index
    while (holdsCall(turn) && this.#joined.at(-1)?.role === 'model') {
      const parts = [...(this.#joined.pop()?.parts ?? []), ...(turn.parts ?? [])]
      start = this.#starts.pop() ?? start
      turn = { role: 'model', parts }
    }
    this.#joined.push(turn)
    this.#starts.push(start)
  }
}

/** True for a turn that asks the runner for something. */
export function holdsCall({ parts = [] }: Content): boolean {
  return parts.some((part) => part.functionCall !== undefined)
}
