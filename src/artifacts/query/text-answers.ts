import type { LineText } from '../../spool/line-text.ts'
import type { SearchAnswer, SearchOptions } from '../../spool/search/search.ts'
import type { TokenCount } from '../../text/token-count.ts'
import { ANSWER_CHARS, DEFAULT_LINES, LINE_CHARS, MAX_LINES } from './answer-limits.ts'
import { lineCursor, readLineCursor } from './cursor.ts'
import type { LinePosition, LineRange, LineWindow, WindowLimits } from './line-window.ts'
import type { QueryAnswer, QueryContext } from './query.ts'

/** What the queries on plain text need of an artifact. */
export interface QueryableText {
  byteLength(): number
  lineCount(): number
  window(range: LineRange, limits?: Partial<WindowLimits>): Promise<LineWindow>
  tailWindow(count: number, limits?: Partial<WindowLimits>): Promise<readonly LineText[]>
  grep(pattern: string, options?: Omit<SearchOptions, 'pattern'>): Promise<SearchAnswer>
  estimateTokens(encoding?: string): Promise<TokenCount>
}

interface CatArguments {
  readonly start: number
  readonly end: number | undefined
  readonly cursor: string | undefined
}

interface GrepArguments {
  readonly pattern: string
  readonly literal: boolean
  readonly ignoreCase: boolean
  readonly context: number
  readonly limit: number
  readonly cursor: string | undefined
}

const GREP_LINE_CHARS = 400

/** Shows the last lines. */
export async function showTail(
  text: QueryableText,
  { lines }: { readonly lines: number },
): Promise<QueryAnswer> {
  const maxLineChars = lines === 1 ? ANSWER_CHARS : LINE_CHARS
  const limits = { maxLines: MAX_LINES, maxChars: ANSWER_CHARS, maxLineChars }
  const shown = (await text.tailWindow(lines, limits)).map(showLine)
  // Line numbers take room too; the end is what was asked for, so the front gives way.
  while (shown.length > 1 && charsOf(shown) > ANSWER_CHARS) shown.shift()
  const wanted = Math.min(lines, text.lineCount())
  const before = wanted - shown.length
  return {
    text: shown.join('\n') || '(no lines)',
    ...(before > 0 && {
      leftOut: `${before} of the ${wanted} lines, in front of these; artifact_cat shows them`,
    }),
  }
}

/** Shows the lines from a position or a cursor. */
export async function showLines(
  text: QueryableText,
  { start, end, cursor }: CatArguments,
): Promise<QueryAnswer> {
  if (!cursor) return showWindow(text, { start, end: end ?? start + DEFAULT_LINES })
  const { line, offset } = readLineCursor(cursor)
  return showWindow(text, { start: line, offset, end: end ?? line + DEFAULT_LINES })
}

/** Searches, and shows what was found. */
export async function searchLines(
  text: QueryableText,
  args: GrepArguments,
  { signal }: QueryContext,
): Promise<QueryAnswer> {
  const { pattern, literal, ignoreCase, context, limit, cursor } = args
  const found = await text.grep(pattern, {
    literal,
    ignoreCase,
    before: context,
    after: context,
    maxMatches: limit,
    maxLineChars: GREP_LINE_CHARS,
    maxChars: ANSWER_CHARS,
    ...(cursor && { cursor }),
    signal,
  })
  return showMatches(found, context > 0)
}

/** Shows a range of lines, as many as fit in an answer. */
export async function showWindow(text: QueryableText, range: LineRange): Promise<QueryAnswer> {
  const last = text.lineCount() - 1
  if (range.start > last) {
    return { text: `(no lines: the artifact has ${last + 1}, counted from 0)` }
  }
  const single = range.end - range.start <= 1
  const { lines, next } = await text.window(range, {
    maxLines: MAX_LINES,
    maxChars: ANSWER_CHARS,
    maxLineChars: single ? ANSWER_CHARS : LINE_CHARS,
  })
  return fitLines(lines, next, Math.min(range.end, last + 1))
}

/** Line numbers take room beside the text: what no longer fits is left to the cursor. */
export function fitLines(
  lines: readonly LineText[],
  windowNext: LinePosition | undefined,
  end: number,
): QueryAnswer {
  const shown: string[] = []
  let left = ANSWER_CHARS + 200
  let next = windowNext
  for (const line of lines) {
    const row = showLine(line)
    left -= row.length + 1
    if (left < 0 && shown.length > 0) {
      next = { line: line.line, offset: 0 }
      break
    }
    shown.push(row)
  }
  const text = shown.join('\n') || '(no lines)'
  if (next === undefined) return { text }
  const rest = end - next.line
  const leftOut =
    next.offset === 0 ? `${rest} of the lines asked for` : `the rest of line ${next.line}`
  return { text, leftOut, cursor: lineCursor(next) }
}

function showMatches(found: SearchAnswer, withContext: boolean): QueryAnswer {
  const rows: string[] = []
  let left = ANSWER_CHARS
  let previous = -1
  let matches = 0
  let cut: number | undefined
  for (const line of found.lines) {
    const isFirst = line.isMatch && matches === 0
    const gap = withContext && rows.length > 0 && line.line !== previous + 1 ? '--\n' : ''
    const row = `${gap}${withContext && line.isMatch ? '> ' : ''}${showLine(line)}`
    left -= row.length + 1
    // Line numbers need room too; the next answer begins at the first match that did not fit.
    if (left < 0 && matches > 0 && line.isMatch) {
      cut = line.line
      break
    }
    if (left >= 0 || isFirst) rows.push(row)
    if (line.isMatch) matches++
    previous = line.line
  }
  // The cursor of a search is the line to continue at.
  const cursor = cut === undefined ? found.cursor : String(cut)
  const why = cut === undefined ? found.stoppedBy : 'characters'
  const leftOut = cursor === undefined ? [] : [STOPPED[why]]
  if (found.unsearchedLine !== undefined) {
    leftOut.push(`line ${found.unsearchedLine}, too long to search with this pattern in time`)
  }
  return {
    text: rows.join('\n') || '(no match)',
    ...(leftOut.length > 0 && { leftOut: leftOut.join('; ') }),
    ...(cursor !== undefined && { cursor }),
  }
}

const STOPPED = {
  end: 'nothing',
  matches: 'matches after the limit',
  characters: 'matches that did not fit',
  time: 'lines that were not searched yet, because time was up',
}

function showLine({ line, text, bytesBefore, bytesAfter }: LineText): string {
  const before = bytesBefore > 0 ? `[${bytesBefore} bytes before] ` : ''
  const after = bytesAfter > 0 ? ` [${bytesAfter} bytes more]` : ''
  return `${line}: ${before}${text}${after}`
}

const charsOf = (rows: readonly string[]) => rows.reduce((sum, row) => sum + row.length + 1, 0)
