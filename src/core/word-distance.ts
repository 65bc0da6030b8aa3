/** How many letters must change to make one word the other; capitals do not count. For short words only. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of lettersOf(a).entries()) {
    const next = [i + 1]
    for (const [j, other] of lettersOf(b).entries()) {
      const swap = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** A stranger's word may be long, and the time grows with both lengths. */
const lettersOf = (word: string) => word.slice(0, 50).toLowerCase().split('')
