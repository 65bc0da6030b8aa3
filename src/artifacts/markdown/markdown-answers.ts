import { brief } from '../../core/error/cut-text.ts'
import { ANSWER_CHARS, LINE_CHARS, MAX_LINES, SCAN_MS } from '../query/answer-limits.ts'
import {
  type BlockPosition,
  blockCursor,
  readBlockCursor,
  readLineCursor,
} from '../query/cursor.ts'
import type { LineRange, LineWindow, WindowLimits } from '../query/line-window.ts'
import type { QueryAnswer, QueryContext } from '../query/query.ts'
import { fitLines } from '../query/text-answers.ts'
import type { MarkdownBlock, MarkdownScan } from './markdown-blocks.ts'
import type { MarkdownLink } from './markdown-links.ts'

/** What the queries on Markdown need of an artifact. */
export interface QueryableMarkdown {
  readonly digest: string
  blocks(
    scan: MarkdownScan,
    visit: (block: MarkdownBlock) => boolean,
  ): Promise<BlockPosition | undefined>
  eachLink(
    scan: MarkdownScan,
    visit: (link: MarkdownLink) => boolean,
  ): Promise<BlockPosition | undefined>
  section(
    heading: string,
    scan?: MarkdownScan,
  ): Promise<{ readonly start: number; readonly end: number }>
  window(range: LineRange, limits?: Partial<WindowLimits>): Promise<LineWindow>
}

const MAX_ROWS = 500

interface Cursor {
  readonly cursor: string | undefined
}

/** Lists the headings down to a level. */
export function listHeadings(
  markdown: QueryableMarkdown,
  { depth, cursor }: Cursor & { readonly depth: number },
  context: QueryContext,
) {
  return list(markdown, 'headings', cursor, context, (scan, add) =>
    markdown.blocks(scan, (block) => {
      if (block.kind !== 'heading' || block.level > depth) return true
      return add(block.line, `${'#'.repeat(block.level)} ${brief(block.text, 200)}`)
    }),
  )
}

/** Shows the section under a heading. */
export async function showSection(
  markdown: QueryableMarkdown,
  { heading, cursor }: Cursor & { readonly heading: string },
  { signal }: QueryContext,
): Promise<QueryAnswer> {
  const { start, end } = await markdown.section(heading, { signal })
  const at = cursor ? readLineCursor(cursor) : { line: start, offset: 0 }
  const range = { start: Math.max(start, at.line), end, offset: at.offset }
  const limits = { maxLines: MAX_LINES, maxChars: ANSWER_CHARS, maxLineChars: LINE_CHARS }
  const { lines, next } = await markdown.window(range, limits)
  return fitLines(lines, next, end)
}

/** Lists the fenced code blocks, of one language if it is given. */
export function listCodeBlocks(
  markdown: QueryableMarkdown,
  { language, cursor }: Cursor & { readonly language: string | undefined },
  context: QueryContext,
) {
  return list(markdown, 'code blocks', cursor, context, (scan, add) =>
    markdown.blocks(scan, (block) => {
      if (block.kind !== 'code') return true
      if (language && block.language.toLowerCase() !== language.toLowerCase()) return true
      return add(block.line, `${block.language || 'no language'}, up to before line ${block.end}`)
    }),
  )
}

/** Lists the links and images. */
export function listLinks(markdown: QueryableMarkdown, { cursor }: Cursor, context: QueryContext) {
  return list(markdown, 'links', cursor, context, (scan, add) =>
    markdown.eachLink(scan, ({ line, text, url }) =>
      add(line, `${brief(text.replaceAll('\n', ' '), 100)} -> ${url}`),
    ),
  )
}

/** Lists what `walk` adds until the answer is full; a cursor continues at the next line. */
async function list(
  { digest }: QueryableMarkdown,
  what: string,
  cursor: string | undefined,
  { signal }: QueryContext,
  walk: (
    scan: MarkdownScan,
    add: (line: number, text: string) => boolean,
  ) => Promise<BlockPosition | undefined>,
): Promise<QueryAnswer> {
  const rows: { readonly line: number; readonly text: string }[] = []
  let left = ANSWER_CHARS
  let next: number | undefined
  const { line: start, ...inside } = cursor ? readBlockCursor(cursor, digest) : { line: 0 }
  const scan = { start, ...inside, maxMs: SCAN_MS / 2, signal }
  const outOfTime = await walk(scan, (line, row) => {
    const text = `${line}: ${row}`
    left -= text.length + 1
    if ((left < 0 || rows.length >= MAX_ROWS) && line !== rows[0]?.line) {
      // One line may hold several; they come together or not at all.
      next = line
      return false
    }
    rows.push({ line, text })
    return rows.length < 2 * MAX_ROWS
  })
  const shown = rows.filter(({ line }) => next === undefined || line < next)
  const text = shown.map((row) => row.text).join('\n') || `(no ${what})`
  const goOn = next === undefined ? outOfTime : { line: next }
  if (goOn === undefined) return { text }
  const why = next === undefined ? ', because time was up' : ''
  return {
    text,
    leftOut: `${what} from line ${goOn.line} on${why}`,
    cursor: blockCursor(goOn, digest),
  }
}
