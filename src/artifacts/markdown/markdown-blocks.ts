import { cutText } from '../../core/error/cut-text.ts'
import type { BlockPosition } from '../query/cursor.ts'

/** A part of a Markdown text that a query can ask for; lines are counted from 0. */
export type MarkdownBlock =
  | {
      readonly kind: 'heading'
      readonly line: number
      readonly level: number
      readonly text: string
    }
  | {
      readonly kind: 'code'
      readonly line: number
      readonly language: string
      /** The line after the block and its closing fence. */
      readonly end: number
    }
  | { readonly kind: 'text'; readonly line: number; readonly text: string }

/** Where a scan over blocks begins, and how long it may take. */
export interface MarkdownScan {
  /** The line to begin at; it must begin a block, or lie in what the line `opened` began. */
  readonly start?: number
  readonly opened?: number
  readonly maxMs?: number
  readonly signal?: AbortSignal
}

interface Fence {
  readonly char: string
  readonly size: number
  readonly line: number
  readonly language: string
}

const MAX_HEADING_CHARS = 500

/**
 * Finds the blocks of Markdown line by line: headings (both kinds), fenced code, and text. Made for
 * documents of any size, in time linear in them, where a full parser would stall or overflow on hostile ones.
 */
export class MarkdownBlocks {
  #line: number
  #fence: Fence | undefined
  #inComment = false
  #commentLine = 0
  #inFrontMatter = false
  #paragraph: { readonly line: number; readonly text: string } | undefined

  /** Begins at a line; inside of what another line opened, if that is given. */
  constructor(firstLine = 0, opened?: { readonly line: number; readonly text: string }) {
    this.#line = opened?.line ?? firstLine
    if (opened !== undefined) this.take(opened.text)
    this.#paragraph = undefined
    this.#line = firstLine
  }

  /** Where a later scan can continue: after the lines taken, or at text that the next line may make a heading. */
  get place(): BlockPosition {
    const line = this.#line
    if (this.#fence !== undefined) return { line, opened: this.#fence.line }
    if (this.#inComment) return { line, opened: this.#commentLine }
    if (this.#inFrontMatter) return { line, opened: 0 }
    return { line: this.#paragraph?.line ?? line }
  }

  /** Takes the next line and gives what it completes. */
  take(text: string): MarkdownBlock[] {
    const line = this.#line++
    if (this.#inFrontMatter || (line === 0 && text.trimEnd() === '---')) {
      this.#inFrontMatter = line === 0 || !isFrontMatterEnd(text)
      return []
    }
    if (this.#fence !== undefined) return this.#insideFence(this.#fence, text, line)
    if (this.#inComment) {
      this.#inComment = !text.includes('-->')
      return []
    }
    const fence = openingFence(text, line)
    const heading = fence ? undefined : atxHeading(text, line)
    const underline = this.#paragraph && !fence && !heading ? setextLevel(text) : 0
    if (underline > 0) return this.#underlined(underline)
    const before = this.#endParagraph()
    if (fence !== undefined) this.#fence = fence
    else if (heading !== undefined) before.push(heading)
    else if (text.trimStart().startsWith('<!--')) {
      this.#inComment = !text.includes('-->')
      this.#commentLine = line
    } else if (text.trim() !== '') this.#paragraph = { line, text }
    return before
  }

  /** Ends the text: a fence that was never closed reaches to its end. */
  finish(): MarkdownBlock[] {
    if (this.#fence === undefined) return this.#endParagraph()
    const { line, language } = this.#fence
    this.#fence = undefined
    return [{ kind: 'code', line, language, end: this.#line }]
  }

  #insideFence(fence: Fence, text: string, line: number): MarkdownBlock[] {
    if (!closes(fence, text)) return []
    this.#fence = undefined
    return [{ kind: 'code', line: fence.line, language: fence.language, end: line + 1 }]
  }

  #underlined(level: number): MarkdownBlock[] {
    const { line, text } = this.#paragraph ?? { line: 0, text: '' }
    this.#paragraph = undefined
    return [{ kind: 'heading', line, level, text: cutText(text.trim(), MAX_HEADING_CHARS) }]
  }

  #endParagraph(): MarkdownBlock[] {
    const paragraph = this.#paragraph
    this.#paragraph = undefined
    return paragraph === undefined ? [] : [{ kind: 'text', ...paragraph }]
  }
}

const isFrontMatterEnd = (text: string) => ['---', '...'].includes(text.trimEnd())

/** Fences may be indented, as they are in lists. */
function openingFence(text: string, line: number): Fence | undefined {
  const trimmed = text.trimStart()
  const char = trimmed[0]
  if (char !== '`' && char !== '~') return undefined
  const size = runLength(trimmed, char)
  const info = trimmed.slice(size).trim()
  if (size < 3 || (char === '`' && info.includes('`'))) return undefined
  return { char, size, line, language: cutText(info.split(/[\s{]/, 1)[0] ?? '', 50) }
}

function closes({ char, size }: Fence, text: string): boolean {
  const trimmed = text.trim()
  return trimmed.length >= size && runLength(trimmed, char) === trimmed.length
}

function atxHeading(text: string, line: number): MarkdownBlock | undefined {
  const trimmed = text.trimStart()
  if (text.length - trimmed.length > 3) return undefined
  const level = runLength(trimmed, '#')
  const behind = trimmed[level]
  const ends = behind === undefined || behind === ' ' || behind === '\t'
  if (level < 1 || level > 6 || !ends) return undefined
  const content = withoutClosing(trimmed.slice(level).trim())
  return { kind: 'heading', line, level, text: cutText(content, MAX_HEADING_CHARS) }
}

/** A run of `#` after a space closes a heading and is not part of it. */
function withoutClosing(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '#') end--
  if (end === text.length) return text
  return end === 0 || text[end - 1] === ' ' ? text.slice(0, end).trimEnd() : text
}

/** 1 for a line of `=`, 2 for a line of `-`, else 0. */
function setextLevel(text: string): number {
  const trimmed = text.trim()
  const char = trimmed[0]
  if ((char !== '=' && char !== '-') || text.startsWith('    ')) return 0
  if (runLength(trimmed, char) !== trimmed.length) return 0
  return char === '=' ? 1 : 2
}

function runLength(text: string, char: string): number {
  let length = 0
  while (text[length] === char) length++
  return length
}
