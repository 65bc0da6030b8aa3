import { scanner } from './scan/scanner.ts'

/** Bytes per block hash: small enough that a read across a border stays far below 1 MB. */
export const BLOCK_BYTES = 256 * 1024

/** Bytes between two entries of a fresh index; doubles when the entries grow too many. */
export const FIRST_STRIDE = 64 * 1024

/** The most entries an index ever holds, whatever the size of its spool. */
export const MAX_ENTRIES = 65_536

const NEWLINE = 10

/**
 * Where lines are, to within a stride of bytes. Entry `i` counts the newlines before byte
 * `(i + 1) * stride`, so that one line of 50 MB costs no more than a million short ones.
 */
export interface LineIndex {
  /** Lower-case hex SHA-256 of the bytes. */
  readonly digest: string
  readonly byteLength: number
  readonly newlines: number
  readonly endsWithNewline: boolean
  readonly stride: number
  readonly entries: readonly number[]
  /** Lower-case hex SHA-256 of each block of `BLOCK_BYTES`. */
  readonly blockHashes: readonly string[]
}

/** Text after the last newline is a line; an empty spool has none. */
export function lineCountOf(index: LineIndex): number {
  return index.newlines + (index.byteLength > 0 && !index.endsWithNewline ? 1 : 0)
}

/** Where to look for something: a stretch of bytes and how many newlines come before it. */
export interface Stretch {
  readonly start: number
  readonly end: number
  readonly newlinesBefore: number
}

/** The stretch that holds newline number `nth` (counted from 1). */
export function stretchOfNewline(index: LineIndex, nth: number): Stretch {
  let low = 0
  let high = index.entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((index.entries[middle] ?? 0) >= nth) high = middle
    else low = middle + 1
  }
  return stretchAt(index, low)
}

/** The stretch that holds the byte at `offset`. */
export function stretchOfOffset(index: LineIndex, offset: number): Stretch {
  return stretchAt(index, Math.floor(offset / index.stride))
}

function stretchAt(index: LineIndex, number: number): Stretch {
  const start = number * index.stride
  return {
    start,
    end: Math.min(index.byteLength, start + index.stride),
    newlinesBefore: number === 0 ? 0 : (index.entries[number - 1] ?? index.newlines),
  }
}

/** Counts lines while bytes go by, in memory that does not grow with them. */
export class LineCounter {
  #entries: number[] = []
  #stride = FIRST_STRIDE
  #newlines = 0
  #byteLength = 0
  #lastByte = -1

  /** Takes the next bytes; pieces of `FIRST_STRIDE` are the fastest. */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const room = this.#stride - (this.#byteLength % this.#stride)
      const piece = bytes.subarray(at, at + room)
      this.#newlines += scanner().count(piece, NEWLINE)
      this.#byteLength += piece.length
      at += piece.length
      if (piece.length === room) this.#mark()
    }
    this.#lastByte = bytes.at(-1) ?? this.#lastByte
  }

  lines(): Pick<LineIndex, 'byteLength' | 'newlines' | 'endsWithNewline' | 'stride' | 'entries'> {
    return {
      byteLength: this.#byteLength,
      newlines: this.#newlines,
      endsWithNewline: this.#lastByte === NEWLINE,
      stride: this.#stride,
      entries: this.#entries,
    }
  }

  #mark(): void {
    this.#entries.push(this.#newlines)
    if (this.#entries.length < MAX_ENTRIES) return
    this.#entries = this.#entries.filter((_, position) => position % 2 === 1)
    this.#stride *= 2
  }
}
