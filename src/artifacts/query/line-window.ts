import { decodeUtf8, type LineText, nextBoundary, previousBoundary } from '../../spool/line-text.ts'
import { readLineAround, readLines } from '../../spool/read-lines.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'

/** Which lines to read, from how many bytes into the first. */
export interface LineRange {
  readonly start: number
  readonly end: number
  readonly offset?: number
}

/** How much a window may hold. */
export interface WindowLimits {
  readonly maxLines: number
  readonly maxChars: number
  /** A longer line is cut there. */
  readonly maxLineChars: number
}

/** A place to continue reading: a line, and how many bytes into it. */
export interface LinePosition {
  readonly line: number
  readonly offset: number
}

/** Lines up to the limits, and where to continue. */
export interface LineWindow {
  readonly lines: readonly LineText[]
  readonly next: LinePosition | undefined
}

/** Reads lines in bounded steps: neither a million short lines nor one of 50 MB fills the memory. */
export async function readWindow(
  reader: SpoolReader,
  { start, end, offset = 0 }: LineRange,
  { maxLines, maxChars, maxLineChars }: WindowLimits,
): Promise<LineWindow> {
  const lines: LineText[] = []
  const last = Math.min(end, start + maxLines, reader.lineCount)
  if (offset > 0 && start < last) {
    const rest = await readLineFrom(reader, start, offset, maxChars)
    lines.push(rest)
    if (rest.bytesAfter > 0) return { lines, next: await behind(reader, rest) }
  }
  const from = start + lines.length
  const left = maxChars - (lines[0]?.text.length ?? 0)
  if (from < last && left > 0) {
    const read = await readLines(reader, { from, count: last - from, maxLineChars, maxChars: left })
    lines.push(...read.lines)
  }
  const shown = start + lines.length
  if (shown < Math.min(end, reader.lineCount)) return { lines, next: { line: shown, offset: 0 } }
  const final = lines.at(-1)
  const isCut = final !== undefined && final.bytesAfter > 0
  return { lines, next: isCut ? await behind(reader, final) : undefined }
}

/** The position behind what is shown of a line. */
async function behind(reader: SpoolReader, { line, bytesAfter }: LineText): Promise<LinePosition> {
  const start = await reader.lineStart(line)
  return { line, offset: (await contentEnd(reader, line)) - bytesAfter - start }
}

/** The rest of a line from a byte; a byte inside a UTF-8 sequence moves to the end of the sequence. */
async function readLineFrom(
  reader: SpoolReader,
  line: number,
  offset: number,
  maxChars: number,
): Promise<LineText> {
  const start = await reader.lineStart(line)
  const end = await contentEnd(reader, line)
  const from = Math.min(start + offset, end)
  const bytes = await reader.read(from, Math.min(end, from + maxChars + 4))
  const first = nextBoundary(bytes, 0)
  const limit = Math.min(bytes.length, first + maxChars)
  const stop = from + limit >= end ? limit : previousBoundary(bytes, limit)
  return {
    line,
    text: decodeUtf8(bytes.subarray(first, stop)),
    bytesBefore: from + first - start,
    bytesAfter: end - (from + stop),
  }
}

/** The last `count` lines that fit the limits; of a last line that is too long, its end. */
export async function readTail(
  reader: SpoolReader,
  count: number,
  { maxLines, maxChars, maxLineChars }: WindowLimits,
): Promise<readonly LineText[]> {
  const { lineCount, byteLength } = reader
  if (lineCount === 0 || count <= 0) return []
  const last = lineCount - 1
  let from = Math.max(0, lineCount - Math.min(count, maxLines))
  if (byteLength - (await reader.lineStart(from)) > maxChars) {
    from = Math.min(last, (await reader.lineAt(byteLength - maxChars)) + 1)
  }
  if (from === last) {
    const end = { line: last, start: await reader.lineStart(last), focus: byteLength }
    return [await readLineAround(reader, end, Math.min(maxChars, maxLineChars))]
  }
  return (await readLines(reader, { from, count: lineCount - from, maxLineChars, maxChars })).lines
}

/** Where the text of a line ends: before its `\n` or `\r\n`. */
async function contentEnd(reader: SpoolReader, line: number): Promise<number> {
  const start = await reader.lineStart(line)
  const end = await reader.lineStart(line + 1)
  const tail = decodeUtf8(await reader.read(Math.max(start, end - 2), end))
  if (!tail.endsWith('\n')) return end
  return tail.endsWith('\r\n') ? end - 2 : end - 1
}
