/** One line as it is shown: whole, or a window of it. */
export interface LineText {
  readonly line: number
  readonly text: string
  /** Bytes of the line left out before and after `text`; the line's end does not count. */
  readonly bytesBefore: number
  readonly bytesAfter: number
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const RETURN = 13

/** Decodes UTF-8; broken parts become U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** How many of `bytes` are before their `\r`, if they end in one. */
export function lengthWithoutReturn(bytes: Uint8Array): number {
  return bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length
}

/**
 * A window of at most `size` bytes around `focus`, a third of it before. Bytes are never fewer than the UTF-16
 * units they decode to, so that a limit in characters holds for both.
 */
export function windowAround(
  length: number,
  focus: number,
  size: number,
): { readonly start: number; readonly end: number } {
  if (length <= size) return { start: 0, end: length }
  const before = Math.floor(size / 3)
  const start = Math.min(Math.max(0, focus - before), length - size)
  return { start, end: start + size }
}

/** Moves `at` forward out of the middle of a UTF-8 sequence. */
export function nextBoundary(bytes: Uint8Array, at: number): number {
  let moved = at
  while (moved < bytes.length && moved < at + 3 && isContinuation(bytes[moved])) moved++
  return moved
}

/** Moves `at` back out of the middle of a UTF-8 sequence. */
export function previousBoundary(bytes: Uint8Array, at: number): number {
  let moved = at
  while (moved > 0 && moved > at - 3 && isContinuation(bytes[moved])) moved--
  return isContinuation(bytes[moved]) ? at : moved
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte <= 0xbf
}
