import type { LineText } from '../spool/line-text.ts'
import type { SearchAnswer, SearchOptions } from '../spool/search/search.ts'
import type { TokenCount } from '../text/token-count.ts'
import { ANSWER_CHARS, DEFAULT_LINES, LINE_CHARS, MAX_LINES } from './answer-limits.ts'
import { lineCursor, readLineCursor } from './cursor.ts'
import type { LinePosition, LineRange, LineWindow, WindowLimits } from './line-window.ts'
import { CURSOR, type Query, type QueryAnswer, query } from './query.ts'

/** What the queries on plain text need of an artifact. */
interface QueryableText {
  byteLength(): number
  lineCount(): number
  window(range: LineRange, limits?: Partial<WindowLimits>): Promise<LineWindow>
  tailWindow(count: number, limits?: Partial<WindowLimits>): Promise<readonly LineText[]>
  grep(pattern: string, options?: Omit<SearchOptions, 'pattern'>): Promise<SearchAnswer>
  estimateTokens(encoding?: string): Promise<TokenCount>
}

const LINES = {
  type: 'integer',
  description: `How many lines, at most ${MAX_LINES}`,
  minimum: 1,
  maximum: MAX_LINES,
} as const

const GREP_LINE_CHARS = 400

const LINE_NUMBER = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const

const head = query({
  name: 'head',
  description: 'Shows the first lines, each with its number (from 0).',
  parameters: { lines: { ...LINES, default: 20 } },
  run: (text: QueryableText, { lines }) => showWindow(text, { start: 0, end: lines }),
})

const tail = query({
  name: 'tail',
  description: 'Shows the last lines, each with its number (from 0).',
  parameters: { lines: { ...LINES, default: 20 } },
  async run(text: QueryableText, { lines }) {
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
  },
})

const cat = query({
  name: 'cat',
  description:
    'Shows the lines from `start` to before `end`, counted from 0, each with its number. Ask for one line to see all of a long one.',
  parameters: {
    start: { ...LINE_NUMBER, description: 'The first line, counted from 0', default: 0 },
    end: {
      ...LINE_NUMBER,
      description: `The line to stop before; ${DEFAULT_LINES} lines when left out`,
      optional: true,
    },
    cursor: CURSOR,
  },
  run(text: QueryableText, { start, end, cursor }) {
    if (!cursor) return showWindow(text, { start, end: end ?? start + DEFAULT_LINES })
    const { line, offset } = readLineCursor(cursor)
    return showWindow(text, { start: line, offset, end: end ?? line + DEFAULT_LINES })
  },
})

const grep = query({
  name: 'grep',
  description:
    'Finds the lines that match a pattern, with their numbers (from 0). RE2 syntax: no look-around, no back-references.',
  parameters: {
    pattern: { type: 'string', description: 'A regular expression', maxLength: 1_000 },
    literal: {
      type: 'boolean',
      description: 'Take the pattern as plain text',
      default: false,
    },
    ignoreCase: { type: 'boolean', description: 'Do not tell case apart', default: false },
    context: {
      type: 'integer',
      description: 'Lines to show around each match',
      minimum: 0,
      maximum: 20,
      default: 0,
    },
    limit: {
      type: 'integer',
      description: 'How many matches to show',
      minimum: 1,
      maximum: 500,
      default: 50,
    },
    cursor: CURSOR,
  },
  async run(text: QueryableText, args, { signal }) {
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
  },
})

const byteLength = query({
  name: 'byte_length',
  description: 'Tells the size in bytes.',
  parameters: {},
  run: (text: QueryableText) => `${text.byteLength()} bytes`,
})

const lineCount = query({
  name: 'line_count',
  description: 'Tells the number of lines.',
  parameters: {},
  run: (text: QueryableText) => `${text.lineCount()} lines`,
})

const estimateTokens = query({
  name: 'estimate_tokens',
  description: 'Tells how many tokens the whole text would take.',
  parameters: {},
  async run(text: QueryableText) {
    const { tokens, isEstimate } = await text.estimateTokens()
    return `${isEstimate ? 'about ' : ''}${tokens} tokens`
  },
})

/** The queries that every artifact answers. */
export const textQueries: readonly Query[] = [
  head,
  tail,
  grep,
  cat,
  byteLength,
  lineCount,
  estimateTokens,
]

async function showWindow(text: QueryableText, range: LineRange): Promise<QueryAnswer> {
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
    // Line numbers take room beside the text; the search goes on at the first match without it.
    if (left < 0 && matches > 0 && line.isMatch) {
      cut = line.line
      break
    }
    if (left >= 0 || isFirst) rows.push(row)
    if (line.isMatch) matches++
    previous = line.line
  }
  // A cursor of a search is the line to go on at.
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
  matches: 'matches behind the limit',
  characters: 'matches that did not fit',
  time: 'lines that were not searched yet, because time was up',
}

function showLine({ line, text, bytesBefore, bytesAfter }: LineText): string {
  const before = bytesBefore > 0 ? `[${bytesBefore} bytes before] ` : ''
  const after = bytesAfter > 0 ? ` [${bytesAfter} bytes more]` : ''
  return `${line}: ${before}${text}${after}`
}

const charsOf = (rows: readonly string[]) => rows.reduce((sum, row) => sum + row.length + 1, 0)
