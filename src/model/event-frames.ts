import { type ByteSource, broken } from './sse.ts'

/** One event in Amazon's binary framing (`application/vnd.amazon.eventstream`). */
export interface FrameEvent {
  /** The type of the event, or of the exception that stands in its place. */
  readonly name: string
  /** Its payload, which is JSON. */
  readonly data: string
}

// A frame: two lengths and their checksum, the headers, the payload, and a checksum of all of it.
const PRELUDE = 12
const CHECKSUM = 4

/** Reads frames in batches, one batch per chunk that completed any. */
export async function* readFrames(
  source: ByteSource,
): AsyncGenerator<readonly FrameEvent[], void, undefined> {
  const reader = new FrameReader()
  for await (const chunk of source) {
    const events = reader.feed(chunk)
    if (events.length > 0) yield events
  }
  reader.end()
}

/** Puts frames together from chunks of bytes. What the checksums or the lengths say is false is an error. */
class FrameReader {
  readonly #headersOf = headerReader()
  #chunks: Uint8Array[] = []
  #size = 0
  /** How many bytes the next frame has, as far as it is known. */
  #wanted = PRELUDE

  /** The events that this chunk completes. */
  feed(chunk: Uint8Array): readonly FrameEvent[] {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    // A long frame in many chunks must not be copied for each of them.
    if (this.#size < this.#wanted) return []
    let bytes = joined(this.#chunks, this.#size)
    const events: FrameEvent[] = []
    this.#wanted = PRELUDE
    while (bytes.length >= PRELUDE) {
      this.#wanted = viewOf(bytes).getUint32(0)
      if (this.#wanted < PRELUDE + CHECKSUM) throw damaged()
      if (bytes.length < this.#wanted) break
      events.push(eventOf(bytes.subarray(0, this.#wanted), this.#headersOf))
      bytes = bytes.subarray(this.#wanted)
      this.#wanted = PRELUDE
    }
    this.#chunks = bytes.length === 0 ? [] : [bytes]
    this.#size = bytes.length
    return events
  }

  end(): void {
    if (this.#size > 0) throw broken('cut', 'it ended within an event')
  }
}

function eventOf(frame: Uint8Array, readHeaders: HeaderReader): FrameEvent {
  const view = viewOf(frame)
  const end = frame.length - CHECKSUM
  const start = PRELUDE + view.getUint32(4)
  const prelude = crc32(frame, 0, 8)
  const isWhole =
    start <= end &&
    view.getUint32(8) === finished(prelude) &&
    view.getUint32(end) === finished(crc32(frame, 8, end, prelude))
  if (!isWhole) throw damaged()
  const headers = readHeaders(frame.subarray(PRELUDE, start))
  const payload = textOf(frame.subarray(start, end))
  const name = headers.get(':event-type') ?? headers.get(':exception-type')
  if (name !== undefined) return { name, data: payload === '' ? '{}' : payload }
  // An error of the connection has no payload, and its code is not an exception type.
  const message = headers.get(':error-message') ?? ''
  const code = headers.get(':error-code') ?? 'unknown'
  return { name: `${code.replace(/Exception$/, '')}Exception`, data: JSON.stringify({ message }) }
}

type HeaderReader = (bytes: Uint8Array) => ReadonlyMap<string, string>

/** Most events have the headers of the one before: those are read once. */
function headerReader(): HeaderReader {
  let known = new Uint8Array()
  let headers: ReadonlyMap<string, string> = new Map()
  return (bytes) => {
    if (areSame(bytes, known)) return headers
    headers = headersOf(bytes)
    known = bytes.slice()
    return headers
  }
}

function areSame(some: Uint8Array, others: Uint8Array): boolean {
  if (some.length !== others.length) return false
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false
  return true
}

/** How many bytes the value of a header has, by its kind; texts and bytes say so themselves. */
const SIZES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]
const TEXT = 7

function headersOf(bytes: Uint8Array): ReadonlyMap<string, string> {
  const view = viewOf(bytes)
  const headers = new Map<string, string>()
  let at = 0
  const take = (size: number) => {
    if (at + size > bytes.length) throw damaged()
    at += size
    return at - size
  }
  while (at < bytes.length) {
    const size = view.getUint8(take(1))
    const named = take(size)
    const kind = view.getUint8(take(1))
    const fixed = SIZES[kind]
    if (fixed === undefined && kind !== TEXT && kind !== TEXT - 1) throw damaged()
    const length = fixed ?? view.getUint16(take(2))
    const value = take(length)
    if (kind !== TEXT) continue
    const name = textOf(bytes.subarray(named, named + size))
    headers.set(name, textOf(bytes.subarray(value, value + length)))
  }
  return headers
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

// Each text is whole, so that one decoder serves them all.
function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw broken('invalid-utf8', 'it holds bytes that are not UTF-8', cause)
  }
}

const damaged = () => broken('unexpected-event', 'the frame of an event is damaged')

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength)

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = pieces
  if (pieces.length === 1 && first !== undefined) return first
  const bytes = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** An event as a frame, as a server would send it. */
export function frameOf({ name, data }: FrameEvent): Uint8Array {
  const isException = name.endsWith('Exception')
  const headers = [
    ...header(isException ? ':exception-type' : ':event-type', name),
    ...header(':content-type', 'application/json'),
    ...header(':message-type', isException ? 'exception' : 'event'),
  ]
  const payload = new TextEncoder().encode(data)
  const start = PRELUDE + headers.reduce((sum, { length }) => sum + length, 0)
  const size = start + payload.length + CHECKSUM
  const frame = joined(
    [new Uint8Array(PRELUDE), ...headers, payload, new Uint8Array(CHECKSUM)],
    size,
  )
  const view = viewOf(frame)
  view.setUint32(0, size)
  view.setUint32(4, start - PRELUDE)
  view.setUint32(8, finished(crc32(frame, 0, 8)))
  view.setUint32(size - CHECKSUM, finished(crc32(frame, 0, size - CHECKSUM)))
  return frame
}

/** A header with a text: the lengths of its name and of its value stand before them. */
function header(name: string, value: string): readonly Uint8Array[] {
  const label = new TextEncoder().encode(name)
  const text = new TextEncoder().encode(value)
  const { length } = text
  return [Uint8Array.of(label.length), label, Uint8Array.of(TEXT, length >> 8, length & 0xff), text]
}

/** Cuts bytes into frames; the last piece may be an incomplete frame. */
export function splitFrames(bytes: Uint8Array): readonly Uint8Array[] {
  const frames: Uint8Array[] = []
  let at = 0
  while (at < bytes.length) {
    const size = at + PRELUDE <= bytes.length ? viewOf(bytes).getUint32(at) : 0
    const end = size < PRELUDE || at + size > bytes.length ? bytes.length : at + size
    frames.push(bytes.subarray(at, end))
    at = end
  }
  return frames
}

const TABLE = Int32Array.from({ length: 256 }, (_, start) => {
  let value = start
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1
  return value
})

/** Continues the checksum of the framing, CRC-32 as in gzip, over some bytes. `finished` gives its value. */
function crc32(bytes: Uint8Array, from: number, to: number, begun = -1): number {
  let crc = begun
  for (let at = from; at < to; at++) {
    crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[at] as number)) & 0xff] as number)
  }
  return crc
}

const finished = (crc: number) => ~crc >>> 0
