/** How a wire wants neighbouring entries joined. */
export interface JoinRule<Entry> {
  /** True when `entry` becomes one with what stands right before it, which begins with `earlier`. */
  joins(entry: Entry, earlier: Entry): boolean
  /** What two or more become. */
  merge(entries: readonly Entry[]): Entry
}

/**
 * A list in which neighbours are joined while the entries that it is made of grow. What was joined
 * before stays: the cost is that of the entries that are new.
 */
export class JoinedEntries<Entry> {
  /** What the entries became. It is live: the next `update` changes its end. */
  readonly list: Entry[] = []
  readonly #rule: JoinRule<Entry>
  /** For each member of the list, the first entry that it was made of. */
  readonly #starts: number[] = []
  #read = 0
  #final = 0

  constructor(rule: JoinRule<Entry>) {
    this.#rule = rule
  }

  /** Takes in entries of which the first `final` will never change; gives where the list changed. */
  update(entries: readonly Entry[], final: number): number {
    const { joins, merge } = this.#rule
    const starts = this.#starts
    let kept = starts.length
    while (kept > 0 && (starts[kept] ?? this.#read) > this.#final) kept--
    const from = starts[kept] ?? this.#read
    starts.length = kept
    for (let index = from; index < entries.length; index++) {
      const entry = entries[index] as Entry
      let start = index
      while (starts.length > 0 && joins(entry, entries[starts.at(-1) as number] as Entry)) {
        start = starts.pop() as number
      }
      kept = Math.min(kept, starts.length)
      starts.push(start)
    }
    this.list.length = kept
    for (let at = kept; at < starts.length; at++) {
      const start = starts[at] as number
      const end = starts[at + 1] ?? entries.length
      const isOne = end === start + 1
      this.list.push(isOne ? (entries[start] as Entry) : merge(entries.slice(start, end)))
    }
    this.#read = entries.length
    this.#final = final
    return kept
  }
}

/** Makes `target` the same as `source` where `source` changed, behind `offset` entries of its own. */
export function copyChanged<Entry>(
  target: Entry[],
  source: readonly Entry[],
  from: number,
  offset = 0,
): void {
  target.length = from + offset
  for (let index = from; index < source.length; index++) target.push(source[index] as Entry)
}
