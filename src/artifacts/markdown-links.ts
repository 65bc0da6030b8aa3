import type { Token } from 'marked'
import { cutText } from '../core/cut-text.ts'

export interface MarkdownLink {
  readonly line: number
  readonly text: string
  readonly url: string
}

/** Longer lines are read in part: the parser's time grows faster than the text on hostile input. */
const MAX_LINE_CHARS = 4_096
const MAX_DEPTH = 8
const MAX_TEXT_CHARS = 200
const MAX_URL_CHARS = 500

/** Reads the links of one line, references resolved by `definitions`. */
export type LinkReader = (text: string, line: number) => readonly MarkdownLink[]

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
  return (text, line) => {
    if (!/[[<]|https?:|www\./i.test(text)) return []
    lexer.state = { ...state }
    const found: MarkdownLink[] = []
    collect(lexer.inlineTokens(cutText(text, MAX_LINE_CHARS)), line, found, 0)
    return found
  }
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
