import { BobbinError } from '../core/error/error.ts'

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
  /** The line that holds the byte at `offset`; the last line if `offset` is after the end. */
  lineAt(offset: number): Promise<number>
  /** Reads everything and throws `E_SPOOL_CORRUPT` unless it is what was written. */
  verify(): Promise<void>
}

/** Which bytes to stream, and how they are handed over. */
export interface ByteRange {
  readonly start?: number
  readonly end?: number
  readonly signal?: AbortSignal
  /**
   * True when the consumer only looks at each chunk and is done with it before it asks for the next:
   * chunks may then share memory with each other or with the store. Saves a copy in scans.
   */
  readonly borrow?: boolean
}

const METHODS = ['read', 'stream', 'lineStart', 'lineAt', 'verify'] as const
const COUNTS = ['byteLength', 'lineCount'] as const

/** Gives `value` back as a `SpoolReader`, or throws `E_NOT_A_SPOOL_READER` naming what is missing. */
export function assertSpoolReader(value: unknown): SpoolReader {
  const missing = missingFromSpoolReader(value)
  if (missing === undefined) return value as SpoolReader
  throw new BobbinError(
    'E_NOT_A_SPOOL_READER',
    `This is not a spool reader: \`${missing}\` is missing or of the wrong type. ` +
      'Use what `write` or `read` of a spool store gives.',
    { missing },
  )
}

/** A fixed copy of the reader: later changes to the given object have no effect. */
export function fixedSpoolReader(value: unknown): SpoolReader {
  const reader = assertSpoolReader(value)
  const { digest, byteLength, lineCount } = reader
  // A getter may give something else the second time, so that what is kept is looked at as well.
  return assertSpoolReader(
    Object.freeze({
      digest,
      byteLength,
      lineCount,
      read: reader.read.bind(reader),
      stream: reader.stream.bind(reader),
      lineStart: reader.lineStart.bind(reader),
      lineAt: reader.lineAt.bind(reader),
      verify: reader.verify.bind(reader),
    }),
  )
}

/** True when `value` has every part of the `SpoolReader` contract. */
export function isSpoolReader(value: unknown): value is SpoolReader {
  return missingFromSpoolReader(value) === undefined
}

function missingFromSpoolReader(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'object'
  const part = (name: string): unknown => Reflect.get(value, name)
  const method = METHODS.find((name) => typeof part(name) !== 'function')
  if (method !== undefined) return method
  if (typeof part('digest') !== 'string') return 'digest'
  return COUNTS.find((name) => !Number.isSafeInteger(part(name)) || Number(part(name)) < 0)
}

/** A range within a spool, whatever was asked for. */
export function clampRange(start: number, end: number, byteLength: number): [number, number] {
  const from = Math.min(Math.max(0, Math.floor(start) || 0), byteLength)
  const to = Math.min(Math.max(from, Math.floor(end) || 0), byteLength)
  return [from, to]
}
