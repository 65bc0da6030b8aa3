import { ANSWER_CHARS } from './answer-limits.ts'
import type { QueryAnswer } from './query.ts'

/** As many rows as fit in an answer; the others are not even built. */
export function fitRows<T>(
  all: readonly T[],
  what: string,
  show: (each: T, position: number) => string,
): QueryAnswer {
  const shown: string[] = []
  let left = ANSWER_CHARS
  for (const [position, each] of all.entries()) {
    const row = show(each, position)
    left -= row.length + 1
    if (left < 0) break
    shown.push(row)
  }
  const hidden = all.length - shown.length
  const text = shown.join('\n') || `(no ${what})`
  return hidden === 0 ? { text } : { text, leftOut: `${hidden} more ${what}` }
}
