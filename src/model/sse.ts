import { createParser } from 'eventsource-parser'
import { BobbinError } from '../core/error.ts'

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
 * Reads server-sent events in batches, one batch per chunk that completed any. Invalid UTF-8 and
 * events without end are errors; CRLF, comments and a last event without blank line are not.
 */
export async function* readSse(
  source: ByteSource,
  maxEventChars = MAX_EVENT_CHARS,
): AsyncGenerator<readonly SseEvent[], void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let batch: SseEvent[] = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: (event) => void batch.push(event),
    onError: (error) => {
      isTooLong ||= error.type === 'max-buffer-size-exceeded'
    },
  })
  const feed = (text: string): readonly SseEvent[] => {
    if (text !== '') parser.feed(text)
    if (isTooLong) throw broken('too-long', `an event is longer than ${maxEventChars} characters`)
    const events = batch
    batch = []
    return events
  }
  for await (const chunk of source) {
    const events = feed(decodeText(decoder, chunk))
    if (events.length > 0) yield events
  }
  // A server that closes right behind its last event has still sent it.
  const last = feed(`${decodeText(decoder)}\n\n`)
  if (last.length > 0) yield last
}

function decodeText(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw broken('invalid-utf8', 'it holds bytes that are not UTF-8', cause)
  }
}

/** The error of a stream that cannot be trusted any further. Its calls are never run. */
export function broken(reason: StreamFault, what: string, cause?: unknown): BobbinError {
  const message = `The response stream is broken: ${what}. Send the request again.`
  return new BobbinError('E_STREAM_BROKEN', message, { reason }, { cause })
}

export type StreamFault = 'cut' | 'invalid-utf8' | 'not-json' | 'too-long' | 'unexpected-event'
