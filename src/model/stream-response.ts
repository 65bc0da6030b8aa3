import type { ModelEvent } from './model-event.ts'
import { type ByteSource, broken, readSse } from './sse.ts'
import type { StreamDecoder } from './wire-adapter.ts'

/** Model events, all those of one chunk together. */
export type EventBatches = AsyncGenerator<readonly ModelEvent[], void, undefined>

/** Bytes of a response through the reducer of its protocol. */
export async function* streamResponse(source: ByteSource, decoder: StreamDecoder): EventBatches {
  for await (const batch of readSse(source)) {
    const told: ModelEvent[] = []
    for (const { data } of batch) {
      // Chat servers close with this word, which is no JSON; others send nothing of the kind.
      if (data === '[DONE]') continue
      for (const event of decoder.push(parseJson(data), data)) told.push(event)
    }
    yield told
  }
  yield decoder.end()
}

/** The same for a client that parses the events itself. */
export async function* streamEvents(
  events: AsyncIterable<unknown>,
  decoder: StreamDecoder,
): EventBatches {
  for await (const event of events) yield decoder.push(event)
  yield decoder.end()
}

/** A whole response, as strictly as a stream: its value and the text it was parsed from. */
export async function readWhole(response: {
  arrayBuffer(): Promise<ArrayBuffer>
}): Promise<{ readonly kind: 'whole'; readonly payload: unknown; readonly source: string }> {
  const bytes = await response.arrayBuffer()
  let source: string
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw broken('invalid-utf8', 'it holds bytes that are not UTF-8', cause)
  }
  return { kind: 'whole', payload: parseJson(source), source }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw broken('not-json', 'what it holds is not JSON', cause)
  }
}
