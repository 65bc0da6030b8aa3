import { readFrames } from './event-frames.ts'
import type { ModelEvent } from './events/model-event.ts'
import { readLines } from './json-lines.ts'
import type { ClientError } from './provider-failure.ts'
import type { Whole } from './reply.ts'
import type { ResponseGuard } from './response-guard.ts'
import { type ByteSource, broken, decodeText, readSse } from './sse.ts'
import type { StreamDecoder } from './wire/wire-adapter.ts'
import { isJson } from './wire/wire-value.ts'

/** A reply that is ready to be read. */
export type ReadReply =
  | { readonly bytes: ByteSource }
  | { readonly events: AsyncIterable<unknown> }
  | Whole

/** Model events, all those of one chunk together. */
export type EventBatches = AsyncGenerator<readonly ModelEvent[], void, undefined>

/** Bytes of a reply through the reducer of its protocol. The caller ends the reducer. */
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
}

/** The same in Amazon's binary framing. There the name of an event stands beside its payload, where clients put it around. */
export async function* streamFrames(
  source: ByteSource,
  decoder: StreamDecoder,
  guard: ResponseGuard,
): EventBatches {
  for await (const batch of readFrames(guard.bytes(source))) {
    const told: ModelEvent[] = []
    for (const { name, data } of batch) {
      for (const event of decoder.push({ [name]: guard.parse(data) })) told.push(event)
    }
    yield guard.pass(told)
  }
}

/** The same where each line is one JSON value. */
export async function* streamLines(
  source: ByteSource,
  decoder: StreamDecoder,
  guard: ResponseGuard,
): EventBatches {
  for await (const lines of readLines(guard.bytes(source))) {
    const told: ModelEvent[] = []
    for (const line of lines) {
      for (const event of decoder.push(guard.parse(line), line)) told.push(event)
    }
    yield guard.pass(told)
  }
}

/** The same for a client that parses the events itself. */
export async function* streamEvents(
  events: AsyncIterable<unknown>,
  decoder: StreamDecoder,
  guard: ResponseGuard,
): EventBatches {
  for await (const event of events) yield guard.pass(decoder.push(guard.parsed(event)))
}

/** The bytes of a stream, or a whole response: a server that was asked to stream may still answer whole. */
export async function readReply(
  response: Response,
  isStream: boolean,
  guard: ResponseGuard,
): Promise<ReadReply> {
  if (!response.ok) throw await failedResponse(response, guard)
  const isWhole = /^application\/json\s*(;|$)/i.test(response.headers.get('content-type') ?? '')
  if (isStream && !isWhole) {
    if (response.body === null) throw broken('cut', 'it has no body')
    return { bytes: response.body }
  }
  // As strictly as a stream: the value and the text it was parsed from.
  const source = await textOf(response, guard)
  return { payload: guard.parse(source), source }
}

/** What a provider's client would throw for this response. */
async function failedResponse(response: Response, guard: ResponseGuard): Promise<Error> {
  const { status, headers } = response
  const text = await textOf(response, guard)
  const error = isJson(text) ? (JSON.parse(text) as unknown) : undefined
  const facts: ClientError = { status, headers, error }
  return Object.assign(new Error(text === '' ? response.statusText : text), facts)
}

async function textOf({ body }: Response, guard: ResponseGuard): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  if (body !== null) {
    for await (const chunk of guard.bytes(body)) text += decodeText(decoder, chunk)
  }
  return text + decodeText(decoder)
}
