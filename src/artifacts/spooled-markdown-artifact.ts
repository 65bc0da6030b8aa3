import { brief } from '../core/error/cut-text.ts'
import { BobbinError } from '../core/error/error.ts'
import { requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { pacer } from '../spool/event-loop.ts'
import { loadAnswers } from './load-answers.ts'
import type { MarkdownBlock, MarkdownScan } from './markdown/markdown-blocks.ts'
import type { MarkdownLink } from './markdown/markdown-links.ts'
import { markdownQueries } from './markdown-queries.ts'
import type { BlockPosition } from './query/cursor.ts'
import type { Query } from './query/query.ts'
import { runAtOnce, runInTurns } from './query/steps.ts'
import { SpooledArtifact } from './spooled-artifact.ts'

/** A heading, its level and its line. */
export type MarkdownHeading = Extract<MarkdownBlock, { kind: 'heading' }>
/** A fenced code block and the lines that it takes. */
export type MarkdownCode = Extract<MarkdownBlock, { kind: 'code' }>

const MAX_ITEMS = 10_000
const MAX_DEFINITIONS = 1_000
/** How long to look for definitions, which may be anywhere. */
const DEFINITIONS_MS = 2_000
const PREVIEW_HEADINGS = 30
const PREVIEW_LINES = 2_000

/** Markdown on a spool: headings, sections, code blocks and links of documents of any size. */
export class SpooledMarkdownArtifact extends SpooledArtifact {
  static override readonly kind: string = 'markdown'
  static override readonly queries: readonly Query[] = markdownQueries

  /** The headings in order. */
  async headings(scan: MarkdownScan = {}): Promise<MarkdownHeading[]> {
    return this.#blocksOf('heading', scan)
  }

  /** The fenced code blocks in order; `cat(line + 1, end - 1)` gives the code of one. */
  async codeBlocks(scan: MarkdownScan = {}): Promise<MarkdownCode[]> {
    return this.#blocksOf('code', scan)
  }

  /** The links and images in order. */
  async links(scan: MarkdownScan = {}): Promise<MarkdownLink[]> {
    const found: MarkdownLink[] = []
    await this.eachLink(scan, (link) => {
      found.push(link)
      return found.length < MAX_ITEMS
    })
    return found
  }

  /** The lines of the section under a heading, given by its text or its line; the heading included. */
  async section(
    heading: string,
    scan: MarkdownScan = {},
  ): Promise<{ readonly start: number; readonly end: number; readonly heading: MarkdownHeading }> {
    if (typeof heading !== 'string') {
      const rule = "must be a string: a heading's text, or its line such as `'7'`"
      throw wrongInput('artifact.section', 'heading', rule)
    }
    const wanted = heading
      .trim()
      .replace(/^#{1,6} +/, '')
      .toLowerCase()
    const seen: string[] = []
    let found: MarkdownHeading | undefined
    let end = this.lineCount()
    await this.blocks(scan, (block) => {
      if (block.kind !== 'heading') return true
      if (found === undefined) {
        if (block.text.toLowerCase() === wanted || String(block.line) === wanted) found = block
        else if (seen.length < PREVIEW_HEADINGS) seen.push(brief(block.text, 60))
        return true
      }
      if (block.level > found.level) return true
      end = block.line
      return false
    })
    if (found !== undefined) return { start: found.line, end, heading: found }
    const there =
      seen.length === 0 ? 'The text has no headings.' : `The first ones are: ${seen.join('; ')}.`
    const message = `There is no heading \`${brief(heading, 60)}\`. ${there}`
    throw new BobbinError('E_INVALID_PATH', message, { path: brief(heading, 60) })
  }

  /** Visits the blocks until `visit` returns false; returns where to continue if the time was up. */
  async blocks(
    scan: MarkdownScan,
    visit: (block: MarkdownBlock) => boolean | Promise<boolean>,
  ): Promise<BlockPosition | undefined> {
    requireOptions('artifact', scan)
    const { start = 0, opened, maxMs = Number.POSITIVE_INFINITY, signal } = scan
    const text = opened === undefined ? undefined : await this.line(opened)
    const inside = opened === undefined || text === undefined ? undefined : { line: opened, text }
    const { MarkdownBlocks } = await loadAnswers()
    const blocks = new MarkdownBlocks(start, inside)
    const deadline = performance.now() + maxMs
    const pace = pacer()
    for await (const batch of this.lineBatches({ start, ...(signal && { signal }) })) {
      for (const line of batch) {
        for (const block of blocks.take(line)) {
          const wanted = visit(block)
          if (!(typeof wanted === 'boolean' ? wanted : await wanted)) return undefined
        }
        const pause = pace()
        if (pause === undefined) continue
        await pause
        if (performance.now() > deadline) return blocks.place
      }
    }
    for (const block of blocks.finish()) if (!(await visit(block))) return undefined
    return undefined
  }

  /** Goes over the links; references are resolved by the definitions that are found in two seconds. */
  async eachLink(
    scan: MarkdownScan,
    visit: (link: MarkdownLink) => boolean,
  ): Promise<BlockPosition | undefined> {
    requireOptions('artifact', scan)
    const { linkDefinition, linkReader, PIECE_CHARS } = await loadAnswers()
    const definitions = new Map<string, string>()
    const { signal } = scan
    const whole = { maxMs: DEFINITIONS_MS, ...(signal && { signal }) }
    await this.blocks(whole, (block) => {
      const definition = block.kind === 'text' ? linkDefinition(block.text) : undefined
      if (definition !== undefined && !definitions.has(definition[0]))
        definitions.set(...definition)
      return definitions.size < MAX_DEFINITIONS
    })
    const read = await linkReader(definitions)
    const pace = pacer()
    return this.blocks(scan, (block) => {
      const isLink = block.kind === 'heading' || block.kind === 'text'
      if (!isLink || linkDefinition(block.text) !== undefined) return true
      const links = read(block.text, block.line)
      if (block.text.length <= PIECE_CHARS) return runAtOnce(links).every(visit)
      return runInTurns(links, pace).then((found) => found.every(visit))
    })
  }

  /** The first headings. */
  override async preview(): Promise<string | undefined> {
    const { MarkdownBlocks } = await loadAnswers()
    const shown: string[] = []
    const blocks = new MarkdownBlocks()
    const { lines } = await this.window({ start: 0, end: PREVIEW_LINES }, { maxChars: 100_000 })
    for (const block of lines.flatMap(({ text }) => blocks.take(text))) {
      if (block.kind !== 'heading' || shown.length === PREVIEW_HEADINGS) continue
      shown.push(`${'#'.repeat(block.level)} ${brief(block.text, 60)}`)
    }
    if (shown.length === 0) return undefined
    return `its first headings: ${shown.join('; ')}`
  }

  async #blocksOf<K extends MarkdownBlock['kind']>(kind: K, scan: MarkdownScan) {
    const found: Extract<MarkdownBlock, { kind: K }>[] = []
    await this.blocks(scan, (block) => {
      if (block.kind === kind) found.push(block as Extract<MarkdownBlock, { kind: K }>)
      return found.length < MAX_ITEMS
    })
    return found
  }
}
