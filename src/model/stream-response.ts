import type { ModelEvent } from './events/model-event.ts'
import type { ResponseGuard } from './response-guard.ts'
import { type ByteSource, decodeText, readSse } from './sse.ts'
import type { StreamDecoder } from './wire/wire-adapter.ts'

/** A response: the untouched bytes of a stream, parsed events of one, or a whole response. */
export type Reply =
  | { readonly kind: 'bytes'; readonly body: ByteSource | null }
  | { readonly kind: 'events'; readonly events: AsyncIterable<unknown> }
  | { readonly kind: 'whole'; readonly payload: unknown; readonly source?: string }

/** Model events, all those of one chunk together. */
export type EventBatches = AsyncGenerator<readonly ModelEvent[], void, undefined>

/** Bytes of a response through the reducer of its protocol. */
export async function* streamResponse(
  source: ByteSource,
  decoder: StreamDecoder,
  guard: ResponseGuard,
): EventBatches {
  for await (const batch of readSse(guard.bytes(source), guard.maxBytes)) {
    const told: ModelEvent[] = []
    for (const { data } of batch) {
      // Chat servers end a stream with this word, which is not JSON.
      if (data === '[DONE]') continue
      for (const event of decoder.push(guard.parse(data), data)) told.push(event)
    }
    yield guard.pass(told)
  }
  yield guard.pass(decoder.end())
}

/** The same for a client that parses the events itself. */
export async function* streamEvents(
  events: AsyncIterable<unknown>,
  decoder: StreamDecoder,
  guard: ResponseGuard,
): EventBatches {
  for await (const event of events) yield guard.pass(decoder.push(guard.parsed(event)))
  yield guard.pass(decoder.end())
}

/** Reads an HTTP response. A server that was asked to stream may still answer whole. */
export async function replyOf(
  response: Response,
  streaming: boolean,
  guard: ResponseGuard,
): Promise<Reply> {
  const isJson = /^application\/json\b/i.test(response.headers.get('content-type') ?? '')
  if (streaming && !isJson) return { kind: 'bytes', body: response.body }
  // As strictly as a stream: the value and the text it was parsed from.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let source = ''
  if (response.body !== null) {
    for await (const chunk of guard.bytes(response.body)) source += decodeText(decoder, chunk)
  }
  source += decodeText(decoder)
  return { kind: 'whole', payload: guard.parse(source), source }
}
