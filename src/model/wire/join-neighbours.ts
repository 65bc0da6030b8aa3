/** How a wire wants neighbouring entries joined. */
export interface JoinRule<Entry> {
  /** True when `entry` joins the run right before it, which begins with `earlier`. */
  joins(entry: Entry, earlier: Entry): boolean
  /** Makes one entry of two or more. */
  merge(entries: readonly Entry[]): Entry
}

/** The list with neighbours joined. An entry that joins a run may also join the run before that. */
export function joinNeighbours<Entry>(
  entries: readonly Entry[],
  { joins, merge }: JoinRule<Entry>,
): Entry[] {
  const starts: number[] = []
  for (const [index, entry] of entries.entries()) {
    let start = index
    while (starts.length > 0 && joins(entry, entries[starts.at(-1) as number] as Entry)) {
      start = starts.pop() as number
    }
    starts.push(start)
  }
  return starts.map((start, at) => {
    const run = entries.slice(start, starts[at + 1])
    return run.length === 1 ? (run[0] as Entry) : merge(run)
  })
}
