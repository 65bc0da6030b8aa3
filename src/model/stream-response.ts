import type { ModelEvent } from './model-event.ts'
import { type ByteSource, broken, readSse } from './sse.ts'
import type { StreamDecoder } from './wire-adapter.ts'

/** What came back: the untouched bytes of a stream, parsed events of one, or a whole response. */
export type Reply =
  | { readonly kind: 'bytes'; readonly body: ByteSource | null }
  | { readonly kind: 'events'; readonly events: AsyncIterable<unknown> }
  | { readonly kind: 'whole'; readonly payload: unknown; readonly source?: string }

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

/** What came back over HTTP. A server that was asked to stream may still answer whole. */
export async function replyOf(response: Response, streaming: boolean): Promise<Reply> {
  const isJson = /^application\/json\b/i.test(response.headers.get('content-type') ?? '')
  return streaming && !isJson ? { kind: 'bytes', body: response.body } : readWhole(response)
}

/** As strictly as a stream: the value and the text it was parsed from. */
async function readWhole(response: Response): Promise<Reply> {
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
