import { createHash } from 'node:crypto'
import type { Piece } from './prompt.ts'

/**
 * What input costs, as a multiple of uncached input. Anthropic: "Prompt caching", lifetime of five minutes. Bedrock: the
 * same for Claude. OpenAI: "Prompt caching", GPT-5.6 and later. Both pages were read in November 2026.
 */
const READ = 0.1
const WRITE = 1.25
/** How many blocks before a marker Anthropic looks for an entry. */
const LOOKBACK = 20

type Requests = readonly (readonly Piece[])[]

/** What requests cost under the rules of markers, as a share of what they cost without a cache. */
export function markedBill(requests: Requests): number {
  const entries = new Set<string>()
  return billOf(requests, (pieces) => {
    const ends = prefixes(pieces)
    const markers = pieces.flatMap(({ isMarked }, at) => (isMarked ? [at] : []))
    const found = markers.flatMap((marker) => {
      const looked = ends.slice(Math.max(0, marker - LOOKBACK + 1), marker + 1)
      const hit = looked.findLastIndex(({ key }) => entries.has(key))
      return hit === -1 ? [] : [looked[hit]?.size ?? 0]
    })
    for (const marker of markers) entries.add(ends[marker]?.key ?? '')
    return { read: Math.max(0, ...found), written: ends[markers.at(-1) ?? -1]?.size ?? 0 }
  })
}

/** The same where the provider itself sets one breakpoint, at the end of each request. */
export function unaskedBill(requests: Requests): number {
  const entries = new Set<string>()
  return billOf(requests, (pieces) => {
    const ends = prefixes(pieces)
    const read = ends.findLast(({ key }) => entries.has(key))?.size ?? 0
    const last = ends.at(-1)
    entries.add(last?.key ?? '')
    return { read, written: last?.size ?? 0 }
  })
}

type Cached = (pieces: readonly Piece[]) => { readonly read: number; readonly written: number }

function billOf(requests: Requests, cached: Cached): number {
  let paid = 0
  let whole = 0
  for (const pieces of requests) {
    const size = sizeOf(pieces)
    const { read, written } = cached(pieces)
    const end = Math.max(read, written)
    paid += read * READ + (end - read) * WRITE + (size - end)
    whole += size
  }
  return paid / whole
}

const sizeOf = (pieces: readonly Piece[]) =>
  pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)

/** What stands before the end of each piece: its size in bytes, and a key for it. */
function prefixes(
  pieces: readonly Piece[],
): readonly { readonly key: string; readonly size: number }[] {
  let size = 0
  const hash = createHash('sha256')
  return pieces.map(({ text }) => {
    size += Buffer.byteLength(text)
    hash.update(`${Buffer.byteLength(text)} ${text}`)
    return { key: hash.copy().digest('hex'), size }
  })
}
