import { charBefore, splitsPair } from '../core/error/cut-text.ts'

/** Longest run of letters, marks or spaces that a tokenizer sees whole; natural text stays below it. */
const MAX_RUN = 256

/**
 * What tokenizers may take for one piece, and so spend quadratic time on. Encodings differ in what they put
 * together: marks go with letters in one and with punctuation, as in a heart and its variation selector,
 * in another, so they count for both.
 */
const KINDS = ['[\\p{L}\\p{M}]', '\\p{N}', '\\s', '[^\\s\\p{L}\\p{N}]'].map((kind) => ({
  one: new RegExp(`^${kind}$`, 'u'),
  many: new RegExp(`${kind}+`, 'uy'),
}))

/** Just before a space and a letter every pattern of the encodings begins a new piece. */
const SAFE_CUT = /[^\s](?= \p{L})/gu

/** The pieces of a text in order, none with a long run, none much over `size` unless it cannot be cut safely. */
export function splitLongRuns(
  text: string,
  size: number,
): { readonly pieces: readonly string[]; readonly wasSplit: boolean } {
  const pieces: string[] = []
  let wasSplit = false
  let from = 0
  for (const { start, end } of longRuns(text)) {
    wasSplit = true
    cutSafely(text.slice(from, start), size, pieces)
    cutEvenly(text.slice(start, end), pieces)
    from = end
  }
  cutSafely(text.slice(from), size, pieces)
  return { pieces, wasSplit }
}

interface Run {
  readonly start: number
  readonly end: number
}

/** A long run covers a multiple of its least length, so looking there alone finds all in linear time. */
function* longRuns(text: string): Generator<Run> {
  let from = 0
  for (let at = 0; at < text.length; at += MAX_RUN) {
    const run = longRunAt(text, at, from)
    if (run === undefined) continue
    yield run
    from = run.end
    at = Math.ceil(from / MAX_RUN) * MAX_RUN - MAX_RUN
  }
}

function longRunAt(text: string, at: number, from: number): Run | undefined {
  const middle = splitsPair(text, at) ? at - 1 : at
  for (const { one, many } of KINDS) {
    many.lastIndex = middle
    if (!many.test(text)) continue
    const end = many.lastIndex
    let start = middle
    let previous = charBefore(text, start)
    while (start > from && one.test(previous)) {
      start -= previous.length
      previous = charBefore(text, start)
    }
    if (end - start >= MAX_RUN) return { start, end }
  }
  return undefined
}

/** Cuts where a new token begins anyway, so that the sum of the counts is the count of the whole. */
function cutSafely(text: string, size: number, pieces: string[]): void {
  let from = 0
  while (text.length - from > size) {
    SAFE_CUT.lastIndex = from + size
    const match = SAFE_CUT.exec(text)
    if (match === null) break
    const cut = match.index + match[0].length
    pieces.push(text.slice(from, cut))
    from = cut
  }
  if (from < text.length) pieces.push(text.slice(from))
}

function cutEvenly(run: string, pieces: string[]): void {
  let from = 0
  while (from < run.length) {
    let end = Math.min(from + MAX_RUN, run.length)
    if (splitsPair(run, end)) end--
    pieces.push(run.slice(from, end))
    from = end
  }
}
