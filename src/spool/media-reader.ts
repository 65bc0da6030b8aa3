import { isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { bytesOf } from './spool-input.ts'
import { assertSpoolReader, type SpoolReader } from './spool-reader.ts'
import type { SpoolInput } from './spool-store.ts'

/** An opaque, re-openable binary source: each `stream()` starts from the first byte. */
export interface MediaReader {
  stream(): AsyncIterable<Uint8Array>
  /** Absent when the size is not known before reading. */
  readonly byteLength?: number
  /** Lower-case hex SHA-256, absent when it is not known before reading. */
  readonly digest?: string
}

/** What a source may say about itself beforehand. */
export interface MediaFacts {
  readonly byteLength?: number
  readonly digest?: string
}

/** Media held in memory; later changes to `bytes` do not reach it. */
export function bytesMedia(bytes: Uint8Array, facts: Pick<MediaFacts, 'digest'> = {}): MediaReader {
  // Made of anything else, they would be other bytes than anybody meant.
  if (!['[object Uint8Array]', '[object ArrayBuffer]'].includes(tagOf(bytes))) {
    throw wrongInput('bytesMedia', 'bytes', 'must be a Uint8Array')
  }
  requireOptions('bytesMedia', facts)
  // `slice` of a Node buffer shares its memory.
  const copy = new Uint8Array(bytes)
  return mediaReader({ ...facts, byteLength: copy.length }, async function* () {
    yield copy.slice()
  })
}

/** Media in a `Blob` or `File`, read when it is needed. */
export function blobMedia(blob: Blob, facts: Pick<MediaFacts, 'digest'> = {}): MediaReader {
  if (!isObject(blob) || typeof blob.stream !== 'function' || typeof blob.size !== 'number') {
    throw wrongInput('blobMedia', 'blob', 'must be a Blob or a File')
  }
  requireOptions('blobMedia', facts)
  return mediaReader({ ...facts, byteLength: blob.size }, () => bytesOf(blob.stream()))
}

/** Media from a stream that `open` makes anew for each reading. */
export function streamMedia(
  open: () => SpoolInput | Promise<SpoolInput>,
  facts: MediaFacts = {},
): MediaReader {
  if (typeof open !== 'function') {
    const rule = 'must be a function that opens the bytes anew each time'
    throw wrongInput('streamMedia', 'open', rule)
  }
  requireOptions('streamMedia', facts)
  return mediaReader(facts, async function* () {
    yield* bytesOf(await open())
  })
}

/** Media whose bytes are on a spool. */
export function spoolMedia(reader: SpoolReader): MediaReader {
  const { byteLength, digest } = assertSpoolReader(reader)
  return mediaReader({ byteLength, digest }, () => reader.stream())
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value)

/** A frozen reader from facts and a way to open the bytes. */
export function mediaReader(
  { byteLength, digest }: MediaFacts,
  stream: () => AsyncIterable<Uint8Array>,
): MediaReader {
  return Object.freeze({
    stream,
    ...(byteLength !== undefined && { byteLength }),
    ...(digest !== undefined && { digest }),
  })
}

/** A fixed copy of the reader: later changes to the given object have no effect. */
export function fixedMediaReader(reader: MediaReader): MediaReader {
  return mediaReader(reader, reader.stream.bind(reader))
}

/** True when `value` satisfies the `MediaReader` contract. */
export function isMediaReader(value: unknown): value is MediaReader {
  if (typeof value !== 'object' || value === null) return false
  const part = (name: string): unknown => Reflect.get(value, name)
  if (typeof part('stream') !== 'function') return false
  // Line-indexed text and opaque bytes never mix: a spool reader must be wrapped to become media.
  if (typeof part('lineStart') === 'function') return false
  const size = part('byteLength')
  if (size !== undefined && !(Number.isSafeInteger(size) && Number(size) >= 0)) return false
  const digest = part('digest')
  return digest === undefined || (typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest))
}
