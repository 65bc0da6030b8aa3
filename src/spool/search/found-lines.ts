import { pacer } from '../event-loop.ts'
import type { LineText } from '../line-text.ts'
import { readLineAround, readLines } from '../read-lines.ts'
import type { SpoolReader } from '../spool-reader.ts'

/** A line of an answer: one that matches, or one shown for context. */
export interface FoundLine extends LineText {
  readonly isMatch: boolean
}

/** A line that matches, before its text is read. */
export interface MatchedLine {
  readonly line: number
  /** Where the line begins. */
  readonly start: number
  /** A byte at or near the match. */
  readonly focus: number
}

/** How much of the matches and of their surroundings to show. */
interface Showing {
  readonly before?: number
  readonly after?: number
  readonly maxLineChars?: number
  readonly maxChars?: number
}

/** The lines of an answer, and the first match that had no room in it. */
interface CollectedLines {
  readonly lines: readonly FoundLine[]
  readonly matches: number
  /** The first matching line that did not fit. */
  readonly firstLeftOut?: number
}

const MAX_CONTEXT = 50
/** Room for any one character and some of its surroundings. */
const MIN_LINE_CHARS = 16

/** `value`, or `otherwise` if it is `NaN`, which would not limit anything. */
export function numberOr(value: number | undefined, otherwise: number): number {
  return value === undefined || Number.isNaN(value) ? otherwise : value
}

/** Reads the text of matches and their context, each line once, as far as it fits. */
export async function collectLines(
  reader: SpoolReader,
  matches: readonly MatchedLine[],
  showing: Showing,
): Promise<CollectedLines> {
  const maxChars = numberOr(showing.maxChars, 50_000)
  const maxLineChars = Math.max(MIN_LINE_CHARS, numberOr(showing.maxLineChars, 400))
  const lines: FoundLine[] = []
  const leading = Math.min(Math.max(0, numberOr(showing.before, 0)), MAX_CONTEXT)
  const trailing = Math.min(Math.max(0, numberOr(showing.after, 0)), MAX_CONTEXT)
  const pace = pacer()
  let chars = 0
  let shown = -1

  const context = async (from: number, to: number) => {
    if (from > to) return []
    const read = await readLines(reader, { from, count: to - from + 1, maxLineChars })
    return read.lines.map((line) => ({ ...line, isMatch: false }))
  }

  for (const [number, match] of matches.entries()) {
    const { line } = match
    await pace()
    const followedBy = matches[number + 1]?.line ?? Number.POSITIVE_INFINITY
    const group: FoundLine[] = [
      ...(await context(Math.max(shown + 1, line - leading), line - 1)),
      { ...(await readLineAround(reader, match, maxLineChars)), isMatch: true },
      ...(await context(line + 1, Math.min(line + trailing, followedBy - 1, reader.lineCount - 1))),
    ]
    const size = group.reduce((sum, { text }) => sum + text.length + 1, 0)
    // The first match is shown whatever its size, or a cursor could stay in its place for ever.
    if (number > 0 && chars + size > maxChars) {
      return { lines, matches: number, firstLeftOut: line }
    }
    chars += size
    lines.push(...group)
    shown = group.at(-1)?.line ?? line
  }
  return { lines, matches: matches.length }
}
