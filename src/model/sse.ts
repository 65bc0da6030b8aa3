import { createParser, type EventSourceParser } from 'eventsource-parser'
import { brokenStream as broken } from './stream-fault.ts'

export { broken }

/** One server-sent event. */
export interface SseEvent {
  readonly event?: string | undefined
  readonly data: string
}

/** Where bytes come from: the body of a response, or anything that yields chunks. */
export type ByteSource = AsyncIterable<Uint8Array>

// Above any provider's limit on one tool call, and still far from what would hurt.
const MAX_EVENT_CHARS = 64 * 1024 * 1024

/**
 * Puts server-sent events together from chunks of bytes. Invalid UTF-8 and events without end are errors; CRLF,
 * comments and a last event without blank line are not.
 */
export class SseReader {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #parser: EventSourceParser
  readonly #maxEventChars: number
  #batch: SseEvent[] = []
  #isTooLong = false

  constructor(maxEventChars = MAX_EVENT_CHARS) {
    this.#maxEventChars = maxEventChars
    this.#parser = createParser({
      maxBufferSize: maxEventChars,
      onEvent: (event) => void this.#batch.push(event),
      onError: (error) => {
        this.#isTooLong ||= error.type === 'max-buffer-size-exceeded'
      },
    })
  }

  /** The events that this chunk completes. */
  feed(chunk: Uint8Array): readonly SseEvent[] {
    return this.#read(decodeText(this.#decoder, chunk))
  }

  /** A server may close the stream without a blank line after its last event. */
  end(): readonly SseEvent[] {
    return this.#read(`${decodeText(this.#decoder)}\n\n`)
  }

  #read(text: string): readonly SseEvent[] {
    if (text !== '') this.#parser.feed(text)
    if (this.#isTooLong) {
      throw broken('too-long', `an event is longer than ${this.#maxEventChars} characters`)
    }
    const events = this.#batch
    this.#batch = []
    return events
  }
}

/** Reads server-sent events in batches, one batch per chunk that completed any. */
export async function* readSse(
  source: ByteSource,
  maxEventChars?: number,
): AsyncGenerator<readonly SseEvent[], void, undefined> {
  const reader = new SseReader(maxEventChars)
  for await (const chunk of source) {
    const events = reader.feed(chunk)
    if (events.length > 0) yield events
  }
  const last = reader.end()
  if (last.length > 0) yield last
}

/** The text of a chunk, or of what is left at the end; invalid UTF-8 is an error. */
export function decodeText(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw broken('invalid-utf8', 'it holds bytes that are not UTF-8', cause)
  }
}
