/** Longest run of letters, marks or spaces that a tokenizer sees whole; natural text stays below it. */
const MAX_RUN = 256

/**
 * A run that no tokenizer would break before its end, and so costs quadratic time. Encodings differ in
 * what they put together: marks go with letters in one and with punctuation, as in a heart and its
 * variation selector, in another, so they count for both.
 */
const LONG_RUN = new RegExp(
  `[\\p{L}\\p{M}]{${MAX_RUN},}|\\p{N}{${MAX_RUN},}|\\s{${MAX_RUN},}|[^\\s\\p{L}\\p{N}]{${MAX_RUN},}`,
  'gu',
)

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
  for (const match of text.matchAll(LONG_RUN)) {
    wasSplit = true
    cutSafely(text.slice(from, match.index), size, pieces)
    cutEvenly(match[0], pieces)
    from = match.index + match[0].length
  }
  cutSafely(text.slice(from), size, pieces)
  return { pieces, wasSplit }
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
    if (end < run.length && isLowSurrogate(run.charCodeAt(end))) end--
    pieces.push(run.slice(from, end))
    from = end
  }
}

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
