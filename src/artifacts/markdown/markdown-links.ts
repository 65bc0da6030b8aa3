import type { Token } from 'marked'
import { cutText } from '../../core/error/cut-text.ts'
import type { Steps } from '../query/steps.ts'

/** A link or an image, and the line on which it is. */
export interface MarkdownLink {
  readonly line: number
  readonly text: string
  readonly url: string
}

/** Longer lines are read in part, and none at once: the parser's time grows with the square of hostile text. */
const MAX_LINE_CHARS = 4_096
/** Lines up to this length are read in one step. */
export const PIECE_CHARS = 1_024
const MAX_DEPTH = 8
const MAX_TEXT_CHARS = 200
const MAX_URL_CHARS = 500

/** Reads the links of one line, references resolved by `definitions`; a long line takes several steps. */
export type LinkReader = (text: string, line: number) => Steps<readonly MarkdownLink[]>

/** Loads the parser and gives a reader; lines that cannot hold a link never reach the parser. */
export async function linkReader(definitions: ReadonlyMap<string, string>): Promise<LinkReader> {
  const { Lexer } = await import('marked')
  const links = Object.fromEntries(
    [...definitions].map(([label, href]) => [label, { href, title: null }]),
  )
  // The parser looks labels up by plain access: `[constructor]` must find nothing.
  Object.setPrototypeOf(links, null)
  const lexer = new Lexer()
  lexer.tokens.links = links
  const { state } = lexer
  return function* (text, line) {
    const found: MarkdownLink[] = []
    for (const piece of piecesOf(cutText(text, MAX_LINE_CHARS))) {
      if (!/[[<]|https?:|www\./i.test(piece)) continue
      lexer.state = { ...state }
      collect(lexer.inlineTokens(piece), line, found, 0)
      yield
    }
    return found
  }
}

function* piecesOf(text: string): Generator<string> {
  let rest = text
  while (rest.length > PIECE_CHARS) {
    const piece = cutText(rest, cutPoint(rest))
    yield piece
    rest = rest.slice(piece.length)
  }
  yield rest
}

/** Where to cut: before a link that has not ended, else after a link or a space, else at the end. */
function cutPoint(text: string): number {
  const close = text.lastIndexOf(')', PIECE_CHARS - 1)
  let open = text.lastIndexOf('[', PIECE_CHARS - 1)
  // `[text][label]` is one link.
  if (open > 0 && text[open - 1] === ']') open = text.lastIndexOf('[', open - 2)
  if (text[open - 1] === '!') open--
  if (open > close && open > 0) return open
  const whole = Math.max(close, text.lastIndexOf(' ', PIECE_CHARS - 1))
  return whole > 0 ? whole + 1 : PIECE_CHARS
}

function collect(
  tokens: readonly Token[],
  line: number,
  found: MarkdownLink[],
  depth: number,
): void {
  for (const token of tokens) {
    if (token.type === 'link' || token.type === 'image') {
      const text = cutText(String(token['text'] ?? ''), MAX_TEXT_CHARS)
      found.push({ line, text, url: cutText(String(token['href'] ?? ''), MAX_URL_CHARS) })
    }
    const inner: unknown = 'tokens' in token ? token.tokens : undefined
    if (Array.isArray(inner) && depth < MAX_DEPTH) collect(inner, line, found, depth + 1)
  }
}

/** The label and address of a line such as `[label]: https://…`. */
export function linkDefinition(text: string): readonly [string, string] | undefined {
  const trimmed = cutText(text.trim(), MAX_LINE_CHARS)
  const close = trimmed.indexOf(']:')
  if (!trimmed.startsWith('[') || close < 2) return undefined
  const label = trimmed.slice(1, close).toLowerCase().replace(/\s+/g, ' ')
  const url =
    trimmed
      .slice(close + 2)
      .trim()
      .split(/\s/, 1)[0] ?? ''
  return url === '' ? undefined : [label, url.replace(/^<|>$/g, '')]
}
