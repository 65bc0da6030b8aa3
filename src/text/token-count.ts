import { wrongInput } from '../core/error/wrong-input.ts'
import { splitLongRuns } from './long-runs.ts'

/** A number of tokens, and whether it is only an estimate. */
export interface TokenCount {
  readonly tokens: number
  readonly isEstimate: boolean
}

/** Counts the tokens of a text that holds no run long enough to be dangerous. */
export type TokenCounter = (text: string) => number | Promise<number>

/** The encodings whose counts are exact, one by one, so that bundlers can make each a chunk of its own. */
export const TOKENIZERS: Readonly<Record<string, () => Promise<Tokenizer>>> = {
  r50k_base: () => import('gpt-tokenizer/encoding/r50k_base'),
  p50k_base: () => import('gpt-tokenizer/encoding/p50k_base'),
  p50k_edit: () => import('gpt-tokenizer/encoding/p50k_edit'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  o200k_harmony: () => import('gpt-tokenizer/encoding/o200k_harmony'),
}

/** The part of a tokenizer that counting needs. Its own types do not compile without those of a browser. */
interface Tokenizer {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number
}

/** Texts beyond this are measured on their first part and scaled up: counting must stay bounded. */
export const EXACT_LIMIT = 2_000_000
const SLICE = 32_768

const registered = new Map<string, TokenCounter>()
const loaded = new Map<string, Promise<TokenCounter>>()

/** Makes `encoding` count with `counter`; its counts are taken as exact. Returns the way to undo it. */
export function registerTokenCounter(encoding: string, counter: TokenCounter): () => void {
  if (typeof encoding !== 'string' || encoding === '') {
    throw wrongInput(
      'registerTokenCounter',
      'encoding',
      'must be the name of an encoding, a string',
    )
  }
  if (typeof counter !== 'function') {
    throw wrongInput('registerTokenCounter', 'counter', 'must be a function that counts a text')
  }
  registered.set(encoding, counter)
  return () => {
    if (registered.get(encoding) === counter) registered.delete(encoding)
  }
}

/**
 * Counts tokens: exactly for OpenAI's encodings and registered ones, by estimate otherwise. Long
 * unbroken runs cost a tokenizer quadratic time, so they are split and the count is marked.
 */
export async function countTokens(text: string, encoding: string): Promise<TokenCount> {
  const counter = await counterFor(encoding)
  if (counter === undefined) return { tokens: roughTokens(text), isEstimate: true }
  const counted = text.length > EXACT_LIMIT ? text.slice(0, EXACT_LIMIT) : text
  const { pieces, wasSplit } = splitLongRuns(counted, SLICE)
  let tokens = 0
  let sincePause = 0
  for (const piece of pieces) {
    tokens += await counter(piece)
    sincePause += piece.length
    if (sincePause < SLICE) continue
    sincePause = 0
    await pause()
  }
  if (counted === text) return { tokens, isEstimate: wasSplit }
  return { tokens: Math.ceil((tokens * text.length) / counted.length), isEstimate: true }
}

/** A quick guess without a vocabulary: four characters of prose a token, one of most other scripts. */
export function roughTokens(text: string): number {
  let wide = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x2e7f) wide++
  return Math.ceil((text.length - wide) / 4 + wide)
}

function counterFor(encoding: string): TokenCounter | Promise<TokenCounter> | undefined {
  const own = registered.get(encoding)
  const load = Object.hasOwn(TOKENIZERS, encoding) ? TOKENIZERS[encoding] : undefined
  if (own !== undefined || load === undefined) return own
  let counter = loaded.get(encoding)
  if (counter === undefined) {
    counter = loadTokenizer(load)
    loaded.set(encoding, counter)
    counter.catch(() => loaded.delete(encoding))
  }
  return counter
}

async function loadTokenizer(load: () => Promise<Tokenizer>): Promise<TokenCounter> {
  const { countTokens: count } = await load()
  // Text such as `<|endoftext|>` is data here, never a special token.
  const asText = { disallowedSpecial: new Set<string>() }
  return (text) => count(text, asText)
}

/** Lets the event loop breathe between slices. */
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
