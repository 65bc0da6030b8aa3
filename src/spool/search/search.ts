import { BobbinError } from '../../core/error/error.ts'
import { pacer } from '../event-loop.ts'
import type { SpoolReader } from '../spool-reader.ts'
import { collectLines, type FoundLine, type MatchedLine, numberOr } from './found-lines.ts'
import { type LineMatch, LineMatcher } from './line-matcher.ts'
import { lineNumbers } from './line-numbers.ts'
import { compilePattern, type PatternOptions } from './pattern.ts'

/** What to look for, where to begin, and what bounds the answer. */
export interface SearchOptions extends PatternOptions {
  /** Lines of context before and after each match (0). */
  readonly before?: number
  readonly after?: number
  /** The most matching lines in one answer (100). */
  readonly maxMatches?: number
  /** The most characters shown of one line (400); a longer line is cut to a window around the match. */
  readonly maxLineChars?: number
  /** The most characters in one answer (50,000). */
  readonly maxChars?: number
  /** The first line to search, counted from 0. */
  readonly fromLine?: number
  /** The `cursor` of the answer to continue; goes before `fromLine`. */
  readonly cursor?: string
  /** The most milliseconds of its own to search; more for a larger spool unless told (150 for up to 16 MB). */
  readonly budgetMs?: number
  readonly signal?: AbortSignal
  /** Milliseconds from a monotonic clock. */
  readonly now?: () => number
}

/** What a search found, why it ended, and where to continue. */
export interface SearchAnswer {
  /** Matching lines and their context, in order, each once. */
  readonly lines: readonly FoundLine[]
  readonly matches: number
  readonly bytesSearched: number
  /** What ended the search; `end` is the end of the spool. */
  readonly stoppedBy: 'end' | 'matches' | 'characters' | 'time'
  /** Pass it to continue; absent when the whole spool was searched. */
  readonly cursor?: string
  /** A line so long that the time was up within it; the cursor continues after it. */
  readonly unsearchedLine?: number
}

/** Bytes handed to the matcher at a time: a millisecond or two of work. */
const SLICE_BYTES = 256 * 1024
const SMALL_SPOOL = 16 * 1024 * 1024
const SMALL_BUDGET_MS = 150
const MS_PER_MEGABYTE = 10

/** Finds lines that match, in bounded time and memory, without ever blocking the event loop for long. */
export async function searchSpool(
  reader: SpoolReader,
  options: SearchOptions,
): Promise<SearchAnswer> {
  const { signal, now = () => performance.now() } = options
  const maxMatches = Math.max(1, Math.floor(options.maxMatches ?? 100) || 1)
  const budget = numberOr(options.budgetMs, defaultBudget(reader.byteLength))
  const firstLine =
    options.cursor === undefined ? lineNumber(options.fromLine) : parseCursor(options.cursor)
  signal?.throwIfAborted()
  const pattern = await compilePattern(options)

  const start = await reader.lineStart(firstLine)
  const matcher = new LineMatcher(pattern, start)
  const numbers = lineNumbers(reader)
  const pace = pacer(now)
  // Of the search's own time: loading the engine, or others that have work to do meanwhile, cost it nothing.
  let deadline = now() + budget
  const rest = async (waiting: Promise<void>) => {
    const before = now()
    await waiting
    deadline += now() - before
  }
  const found: MatchedLine[] = []
  let searched = 0
  let outOfTime = false

  const record = async ({ lineStart, offset }: LineMatch) => {
    found.push({ line: await numbers.lineAt(lineStart), start: lineStart, focus: offset })
    return found.length >= maxMatches
  }

  /** True when the search is over before the bytes are. */
  const search = async (slice: Uint8Array): Promise<boolean> => {
    matcher.load(slice)
    for (;;) {
      const event = matcher.next()
      if (typeof event === 'object' && (await record(event))) return true
      if (event === 'more') return false
      const waiting = pace()
      if (waiting !== undefined) await rest(waiting)
      signal?.throwIfAborted()
      outOfTime = now() > deadline
      if (outOfTime) return true
    }
  }

  const scan = async (): Promise<boolean> => {
    for await (const chunk of reader.stream({ start, borrow: true, ...(signal && { signal }) })) {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        const slice = chunk.subarray(at, at + SLICE_BYTES)
        numbers.moveTo(slice, start + searched)
        const over = await search(slice)
        searched += slice.length
        if (over) return true
        const waiting = pace()
        if (waiting !== undefined) await rest(waiting)
        outOfTime = now() > deadline && start + searched < reader.byteLength
        if (outOfTime) return true
      }
    }
    return false
  }

  const cut = await scan()
  const last = cut ? undefined : matcher.finish()
  if (last !== undefined) await record(last)

  const answer = await collectLines(reader, found, options)
  const base = { lines: answer.lines, matches: answer.matches, bytesSearched: searched }
  if (answer.firstLeftOut !== undefined) {
    return { ...base, stoppedBy: 'characters', cursor: String(answer.firstLeftOut) }
  }
  if (outOfTime) {
    const line = await reader.lineAt(matcher.lineStart)
    const stuck = line <= firstLine && found.length === 0
    const next = Math.max(line + (stuck ? 1 : 0), (found.at(-1)?.line ?? -1) + 1)
    const cursor = next < reader.lineCount ? { cursor: String(next) } : {}
    return { ...base, stoppedBy: 'time', ...cursor, ...(stuck && { unsearchedLine: line }) }
  }
  const next = (found.at(-1)?.line ?? 0) + 1
  if (!cut || next >= reader.lineCount) return { ...base, stoppedBy: 'end' }
  return { ...base, stoppedBy: 'matches', cursor: String(next) }
}

/** Enough for any pattern that behaves, and an end for those that do not. */
function defaultBudget(byteLength: number): number {
  const beyond = Math.max(0, byteLength - SMALL_SPOOL)
  return SMALL_BUDGET_MS + (beyond / 1_000_000) * MS_PER_MEGABYTE
}

function lineNumber(value: number | undefined): number {
  return Math.max(0, Math.floor(value ?? 0) || 0)
}

function parseCursor(cursor: unknown): number {
  const text = typeof cursor === 'string' ? cursor : typeof cursor
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const shown = text.slice(0, 80)
  throw new BobbinError(
    'E_INVALID_CURSOR',
    `\`${shown}\` is not a cursor: pass the \`cursor\` of an earlier answer, unchanged, or none to begin.`,
    { cursor: shown },
  )
}
