import {
  BLOCK_BYTES,
  type LineIndex,
  lineCountOf,
  stretchOfNewline,
  stretchOfOffset,
} from './line-index.ts'
import { scanner } from './scan/scanner.ts'
import { spoolCorrupt } from './spool-errors.ts'
import { type ByteRange, clampRange, type SpoolReader } from './spool-reader.ts'

const NEWLINE = 10

/** Where an indexed reader gets its bytes from. */
export interface BlockSource {
  /** Block `number` of `BLOCK_BYTES`, checked; the caller does not change it. */
  block(number: number): Promise<Uint8Array>
  /** The bytes of a valid range, in chunks. */
  stream(start: number, end: number, range: ByteRange): AsyncIterable<Uint8Array>
  verify(): Promise<void>
}

/** A `SpoolReader` over blocks and their line index. */
export function indexedReader(index: LineIndex, source: BlockSource): SpoolReader {
  const { byteLength } = index
  const lineCount = lineCountOf(index)

  const read = async (from: number, to: number) => {
    const [start, end] = clampRange(from, to, byteLength)
    const bytes = new Uint8Array(end - start)
    for (let at = start; at < end; ) {
      const number = Math.floor(at / BLOCK_BYTES)
      const block = await source.block(number)
      const piece = block.subarray(at - number * BLOCK_BYTES, end - number * BLOCK_BYTES)
      bytes.set(piece, at - start)
      at += piece.length
    }
    return bytes
  }

  const lineStart = async (line: number) => {
    if (!(line > 0)) return 0
    if (line >= lineCount) return byteLength
    const nth = Math.floor(line)
    const stretch = stretchOfNewline(index, nth)
    const bytes = await read(stretch.start, stretch.end)
    let at = -1
    for (let seen = stretch.newlinesBefore; seen < nth; seen++) {
      at = bytes.indexOf(NEWLINE, at + 1)
      if (at < 0) throw spoolCorrupt(index.digest, 'index')
    }
    return stretch.start + at + 1
  }

  const lineAt = async (offset: number) => {
    if (!(offset > 0) || byteLength === 0) return 0
    const at = Math.min(Math.floor(offset), byteLength - 1)
    const stretch = stretchOfOffset(index, at)
    const before = await read(stretch.start, at)
    return stretch.newlinesBefore + scanner().count(before, NEWLINE)
  }

  return Object.freeze({
    digest: index.digest,
    byteLength,
    lineCount,
    read,
    lineStart,
    lineAt,
    verify: () => source.verify(),
    stream(range: ByteRange = {}) {
      const [start, end] = clampRange(range.start ?? 0, range.end ?? byteLength, byteLength)
      return source.stream(start, end, range)
    },
  })
}
