import {
  decodeUtf8,
  type LineText,
  lengthWithoutReturn,
  nextBoundary,
  previousBoundary,
  windowAround,
} from './line-text.ts'
import type { SpoolReader } from './spool-reader.ts'

const NEWLINE = 10
const READ_BYTES = 64 * 1024
const SHORT_LINE_BYTES = 1024

/** Which lines to read, and how much of them. */
export interface ReadLinesOptions {
  /** The first line, counted from 0. */
  readonly from: number
  readonly count: number
  /** The most characters shown of one line (2,000, and never more than 65,536); longer lines are cut. */
  readonly maxLineChars?: number
  /** The most characters in all (100,000); the next reading gives the rest. */
  readonly maxChars?: number
}

/** The lines that were read, and where to continue. */
export interface ReadLinesResult {
  readonly lines: readonly LineText[]
  /** Where to continue; absent at the end of the range or of the spool. */
  readonly nextLine?: number
}

/** Reads some lines in bounded memory, however long they are. */
export async function readLines(
  reader: SpoolReader,
  { from, count, maxLineChars = 2_000, maxChars = 100_000 }: ReadLinesOptions,
): Promise<ReadLinesResult> {
  const first = Math.max(0, Math.floor(from) || 0)
  const last = Math.min(reader.lineCount, first + Math.max(0, Math.floor(count) || 0))
  const lines: LineText[] = []
  let line = first
  let offset = line < last ? await reader.lineStart(line) : 0
  let chars = 0

  while (line < last) {
    const bytes = await reader.read(offset, offset + READ_BYTES)
    const isEnd = offset + bytes.length >= reader.byteLength
    let at = 0
    while (line < last) {
      const newline = bytes.indexOf(NEWLINE, at)
      if (newline < 0 && !isEnd) break
      const content = bytes.subarray(at, newline < 0 ? bytes.length : newline)
      const text = headOf(content, newline < 0 ? content.length : lengthWithoutReturn(content))
      if (!take(text)) return { lines, nextLine: line }
      at = newline < 0 ? bytes.length : newline + 1
      line++
    }
    if (at > 0) offset += at
    else if (line < last) {
      // Longer than one reading: only its head is shown, and the index knows where it ends.
      const end = await reader.lineStart(line + 1)
      const length = (await contentEnd(reader, end)) - offset
      if (!take(headOf(bytes, length))) return { lines, nextLine: line }
      offset = end
      line++
    }
  }
  return { lines }

  function headOf(bytes: Uint8Array, length: number): Omit<LineText, 'line'> {
    if (length <= maxLineChars && length <= bytes.length) {
      return { text: decodeUtf8(bytes.subarray(0, length)), bytesBefore: 0, bytesAfter: 0 }
    }
    const end = previousBoundary(bytes, Math.min(maxLineChars, bytes.length))
    return { text: decodeUtf8(bytes.subarray(0, end)), bytesBefore: 0, bytesAfter: length - end }
  }

  function take(text: Omit<LineText, 'line'>): boolean {
    if (lines.length > 0 && chars + text.text.length > maxChars) return false
    chars += text.text.length + 1
    lines.push({ line, ...text })
    return true
  }
}

/** Reads the line that begins at `start`, cut to a window around the byte at `focus`; both are offsets in the spool. */
export async function readLineAround(
  reader: SpoolReader,
  { line, start, focus }: { readonly line: number; readonly start: number; readonly focus: number },
  maxChars: number,
): Promise<LineText> {
  const end = await lineEnd(reader, line, start)
  const window = windowAround(end - start, focus - start, maxChars)
  // A few bytes more on each side tell whether a sequence would be cut.
  const from = Math.max(start, start + window.start - 4)
  const bytes = await reader.read(from, Math.min(end, start + window.end + 4))
  const head = start + window.start - from
  const cutStart = window.start === 0 ? head : nextBoundary(bytes, head)
  const tail = head + window.end - window.start
  const cutEnd = start + window.end === end ? tail : previousBoundary(bytes, tail)
  return {
    line,
    text: decodeUtf8(bytes.subarray(cutStart, cutEnd)),
    bytesBefore: from + cutStart - start,
    bytesAfter: end - (from + cutEnd),
  }
}

/** Where the text of a line is over: most lines are short, and the index is asked about the others only. */
async function lineEnd(reader: SpoolReader, line: number, start: number): Promise<number> {
  const head = await reader.read(start, start + SHORT_LINE_BYTES)
  const newline = head.indexOf(NEWLINE)
  if (newline >= 0) return start + lengthWithoutReturn(head.subarray(0, newline))
  if (start + head.length >= reader.byteLength) return reader.byteLength
  return contentEnd(reader, await reader.lineStart(line + 1))
}

/** Where the text of the line that ends at `end` is over: before its `\n` or `\r\n`. */
async function contentEnd(reader: SpoolReader, end: number): Promise<number> {
  const tail = await reader.read(Math.max(0, end - 2), end)
  if (tail.at(-1) !== NEWLINE) return end
  return end - tail.length + lengthWithoutReturn(tail.subarray(0, -1))
}
