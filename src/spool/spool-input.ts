import { BobbinError } from '../core/error/error.ts'
import { unwaited } from '../core/thenable.ts'
import type { SpoolInput } from './spool-store.ts'
import { stopStream } from './unread-stream.ts'

/** How much of a string is encoded at once. */
const STRING_SLICE = 256 * 1024

/** The chunks, and a way to stop the source while a read waits. */
export interface Source {
  readonly bytes: AsyncGenerator<Uint8Array>
  /** A waiting generator cannot return; its source can be stopped. */
  stop(): void
}

/** Anything that can be spooled, as bytes in pieces; text becomes UTF-8. */
export function sourceOf(data: SpoolInput): Source {
  const opened: Opened = { reader: undefined }
  const stop = () => stopStream(opened.reader ?? data)
  return { bytes: encoded(chunksOf(data, opened)), stop }
}

/** The bytes of anything that can be spooled. */
export const bytesOf = (data: SpoolInput): AsyncGenerator<Uint8Array> => sourceOf(data).bytes

/** A web stream that is read can be cancelled by its reader only. */
interface Opened {
  reader: ReadableStreamDefaultReader<Uint8Array | string> | undefined
}

async function* encoded(chunks: AsyncGenerator<unknown>): AsyncGenerator<Uint8Array> {
  const pending: Pending = { high: '' }
  for await (const chunk of chunks) {
    if (typeof chunk === 'string') yield* encode(chunk, pending)
    else if (isBytes(chunk)) {
      yield* finish(pending)
      yield chunk
    } else {
      const advice = adviceOn(chunk, 'Encode objects before they are spooled, as JSON lines.')
      throw invalidInput(
        chunk,
        `A spool takes strings and Uint8Arrays, and this stream gave ${describe(chunk)}. ${advice}`,
      )
    }
  }
  yield* finish(pending)
}

const encoder = new TextEncoder()

/** The high surrogate that ended the last string: its other half may begin the next. */
interface Pending {
  high: string
}

function* encode(chunk: string, pending: Pending): Generator<Uint8Array> {
  const text = pending.high + chunk
  pending.high = ''
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + STRING_SLICE)
    if (isHighSurrogate(text.charCodeAt(end - 1))) end--
    if (end === at) {
      pending.high = text.slice(at)
      return
    }
    yield encoder.encode(text.slice(at, end))
    at = end
  }
}

/** A high surrogate that nothing completes becomes U+FFFD, as in any UTF-8 encoder. */
function* finish(pending: Pending): Generator<Uint8Array> {
  if (pending.high !== '') yield encoder.encode(pending.high)
  pending.high = ''
}

async function* chunksOf(data: unknown, opened: Opened): AsyncGenerator<unknown> {
  if (typeof data === 'string' || isBytes(data)) yield data
  else if (isReadableStream(data)) yield* fromReader((opened.reader = data.getReader()))
  else if (isAsyncIterable(data)) yield* data
  else if (isSyncIterable(data) && !ArrayBuffer.isView(data)) yield* data
  else {
    unwaited(data)
    const advice = adviceOn(data, 'Encode it first, for example with `JSON.stringify`.')
    throw invalidInput(
      data,
      `A spool takes a string, a Uint8Array, or a stream of those, not ${describe(data)}. ${advice}`,
    )
  }
}

/** Some platforms have web streams that are not async iterable yet, and a reader can be cancelled while it waits. */
async function* fromReader(
  reader: ReadableStreamDefaultReader<Uint8Array | string>,
): AsyncGenerator<Uint8Array | string> {
  let finished = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) {
        finished = true
        return
      }
      yield value
    }
  } finally {
    if (!finished) await reader.cancel().catch(() => undefined)
    reader.releaseLock()
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** What a value calls itself, which holds across realms where `instanceof` does not. */
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

function isBytes(value: unknown): value is Uint8Array {
  return tagOf(value) === 'Uint8Array'
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isSyncIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

function isReadableStream(value: unknown): value is ReadableStream<Uint8Array | string> {
  return typeof (value as { getReader?: unknown } | null)?.getReader === 'function'
}

function invalidInput(value: unknown, message: string): BobbinError<'E_SPOOL_INVALID_INPUT'> {
  return new BobbinError('E_SPOOL_INVALID_INPUT', message, { type: describe(value) })
}

/** What to do with values that are nearly bytes. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^Promise$/, 'Await it first.'],
  [/^ArrayBuffer$/, 'Give its bytes: `new Uint8Array(buffer)`.'],
  [/^(Blob|File)$/, 'Give its bytes: `blob.stream()`.'],
  [/^(Response|Request)$/, 'Give its `body`.'],
  [
    /Array$|^DataView$/,
    'Give its bytes: `new Uint8Array(view.buffer, view.byteOffset, view.byteLength)`.',
  ],
]

function adviceOn(value: unknown, otherwise: string): string {
  const known = Array.isArray(value) ? undefined : ADVICE.find(([name]) => name.test(tagOf(value)))
  return known?.[1] ?? otherwise
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  const tag = tagOf(value)
  return tag === 'Object' ? 'object' : tag
}
