/**
 * Line-indexed text on a spool. Every read is bounded by its caller, and nothing is held in memory
 * that grows with the artifact. Lines are counted from 0 and end at `\n`; a `\r` before it belongs to
 * the terminator; text after the last `\n` is a line, an empty spool has none.
 */
export interface SpoolReader {
  /** Lower-case hex SHA-256 of the bytes. */
  readonly digest: string
  readonly byteLength: number
  readonly lineCount: number
  /** The bytes from `start` (inclusive) to `end` (exclusive), clamped to the spool, verified by block. */
  read(start: number, end: number): Promise<Uint8Array>
  /** All bytes from `start` to `end` in chunks, for scans; stops early when the consumer does. */
  stream(range?: ByteRange): AsyncIterable<Uint8Array>
  /** The byte offset at which `line` begins; `byteLength` when there is no such line. */
  lineStart(line: number): Promise<number>
  /** The line that holds the byte at `offset`. */
  lineAt(offset: number): Promise<number>
  /** Reads everything and throws `E_SPOOL_CORRUPT` unless it is what was written. */
  verify(): Promise<void>
}

export interface ByteRange {
  readonly start?: number
  readonly end?: number
  readonly signal?: AbortSignal
}
