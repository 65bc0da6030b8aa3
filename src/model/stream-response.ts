import type { ModelEvent } from './model-event.ts'
import { type ByteSource, broken, readSse } from './sse.ts'
import type { StreamDecoder } from './wire-adapter.ts'

/** Bytes of a response through the reducer of its protocol, to model events. */
export async function* streamResponse(
  source: ByteSource,
  decoder: StreamDecoder,
): AsyncGenerator<ModelEvent, void, undefined> {
  for await (const batch of readSse(source)) {
    for (const { data } of batch) {
      // Chat servers close with this word, which is no JSON; others send nothing of the kind.
      if (data === '[DONE]') continue
      yield* decoder.push(parseEvent(data), data)
    }
  }
  yield* decoder.end()
}

function parseEvent(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw broken('not-json', 'an event is not JSON', cause)
  }
}

/** The same for a client that parses the events itself. */
export async function* streamEvents(
  events: AsyncIterable<unknown>,
  decoder: StreamDecoder,
): AsyncGenerator<ModelEvent, void, undefined> {
  for await (const event of events) yield* decoder.push(event)
  yield* decoder.end()
}
