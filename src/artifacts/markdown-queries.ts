import { brief } from '../core/cut-text.ts'
import { ANSWER_CHARS, LINE_CHARS, MAX_LINES, SCAN_MS } from './answer-limits.ts'
import { blockCursor, readBlockCursor, readLineCursor } from './cursor.ts'
import type { LineRange, LineWindow, WindowLimits } from './line-window.ts'
import type { MarkdownBlock, MarkdownPlace } from './markdown-blocks.ts'
import type { MarkdownLink } from './markdown-links.ts'
import { CURSOR, type Query, type QueryAnswer, type QueryContext, query } from './query.ts'
import { fitLines } from './text-queries.ts'

interface Scan {
  readonly start?: number
  readonly opened?: number
  readonly maxMs?: number
  readonly signal?: AbortSignal
}

/** What the queries on Markdown need of an artifact. */
interface QueryableMarkdown {
  readonly digest: string
  blocks(scan: Scan, visit: (block: MarkdownBlock) => boolean): Promise<MarkdownPlace | undefined>
  eachLink(scan: Scan, visit: (link: MarkdownLink) => boolean): Promise<MarkdownPlace | undefined>
  section(heading: string, scan?: Scan): Promise<{ readonly start: number; readonly end: number }>
  window(range: LineRange, limits?: Partial<WindowLimits>): Promise<LineWindow>
}

const MAX_ROWS = 500

const headings = query({
  name: 'markdown_headings',
  description: 'Lists the headings, each with its line (from 0).',
  parameters: {
    depth: {
      type: 'integer',
      description: 'The deepest level to list',
      minimum: 1,
      maximum: 6,
      default: 6,
    },
    cursor: CURSOR,
  },
  run: (markdown: QueryableMarkdown, { depth, cursor }, context) =>
    list(markdown, 'headings', cursor, context, (scan, add) =>
      markdown.blocks(scan, (block) => {
        if (block.kind !== 'heading' || block.level > depth) return true
        return add(block.line, `${'#'.repeat(block.level)} ${brief(block.text, 200)}`)
      }),
    ),
})

const section = query({
  name: 'markdown_section',
  description: 'Shows the section under a heading, its subsections included.',
  parameters: {
    heading: {
      type: 'string',
      description: 'The text of the heading, or its line',
      maxLength: 1_000,
    },
    cursor: CURSOR,
  },
  async run(markdown: QueryableMarkdown, { heading, cursor }, { signal }) {
    const { start, end } = await markdown.section(heading, { signal })
    const at = cursor ? readLineCursor(cursor) : { line: start, offset: 0 }
    const range = { start: Math.max(start, at.line), end, offset: at.offset }
    const limits = { maxLines: MAX_LINES, maxChars: ANSWER_CHARS, maxLineChars: LINE_CHARS }
    const { lines, next } = await markdown.window(range, limits)
    return fitLines(lines, next, end)
  },
})

const codeBlocks = query({
  name: 'markdown_code_blocks',
  description: 'Lists the fenced code blocks with their lines; artifact_cat shows the code.',
  parameters: {
    language: {
      type: 'string',
      description: 'Only blocks in this language',
      maxLength: 100,
      optional: true,
    },
    cursor: CURSOR,
  },
  run: (markdown: QueryableMarkdown, { language, cursor }, context) =>
    list(markdown, 'code blocks', cursor, context, (scan, add) =>
      markdown.blocks(scan, (block) => {
        if (block.kind !== 'code') return true
        if (language && block.language.toLowerCase() !== language.toLowerCase()) return true
        return add(block.line, `${block.language || 'no language'}, up to before line ${block.end}`)
      }),
    ),
})

const links = query({
  name: 'markdown_links',
  description: 'Lists the links and images, each with its line (from 0).',
  parameters: { cursor: CURSOR },
  run: (markdown: QueryableMarkdown, { cursor }, context) =>
    list(markdown, 'links', cursor, context, (scan, add) =>
      markdown.eachLink(scan, ({ line, text, url }) =>
        add(line, `${brief(text.replaceAll('\n', ' '), 100)} -> ${url}`),
      ),
    ),
})

/** The queries that Markdown answers beside those on text. */
export const markdownQueries: readonly Query[] = [headings, section, codeBlocks, links]

/** Lists what `walk` adds until an answer is full; what is left goes on at its line. */
async function list(
  { digest }: QueryableMarkdown,
  what: string,
  cursor: string | undefined,
  { signal }: QueryContext,
  walk: (
    scan: Scan,
    add: (line: number, text: string) => boolean,
  ) => Promise<MarkdownPlace | undefined>,
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
