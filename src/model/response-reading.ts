import type { ModelEvent } from './events/model-event.ts'
import type { ProviderDefinition } from './provider-definition.ts'
import type { Whole } from './reply.ts'
import type { ResponseGuard } from './response-guard.ts'
import { broken } from './sse.ts'
import {
  type EventBatches,
  type ReadReply,
  streamEvents,
  streamFrames,
  streamLines,
  streamResponse,
} from './stream-response.ts'
import type { DecodeContext, Decoding, StreamDecoder, WireAdapter } from './wire/wire-adapter.ts'

/** A protocol, and how its streams separate their events. */
type FramedAdapter = WireAdapter & Pick<ProviderDefinition, 'framing'>

const STREAMED = { sse: streamResponse, json: streamLines, eventstream: streamFrames }

/** Reads the response to one model call. It comes in one reply, or, if it is long, in several. */
export class ResponseReading {
  readonly #adapter: FramedAdapter
  readonly #context: DecodeContext
  readonly #guard: ResponseGuard
  readonly #payloads: unknown[] = []
  readonly #sources: string[] = []
  #decoder: StreamDecoder | undefined
  #whole: Decoding | undefined

  constructor(adapter: FramedAdapter, context: DecodeContext, guard: ResponseGuard) {
    this.#adapter = adapter
    this.#context = context
    this.#guard = guard
  }

  /** The token with which the next request continues the response; undefined when it has ended. */
  get continuation(): string | undefined {
    return (this.#decoder ?? this.#whole)?.continuation
  }

  /** Facts about a reply that are known before the response ends. */
  take(reply: ReadReply): EventBatches | readonly never[] {
    if ('payload' in reply) {
      this.#keep(reply)
      return []
    }
    this.#decoder ??= this.#adapter.decodeStream(this.#context)
    if ('events' in reply) return streamEvents(reply.events, this.#decoder, this.#guard)
    return STREAMED[this.#adapter.framing ?? 'sse'](reply.bytes, this.#decoder, this.#guard)
  }

  end(): readonly ModelEvent[] {
    if (this.#decoder !== undefined) return this.#guard.pass(this.#decoder.end())
    const finish = this.#whole?.finish
    if (finish === undefined) throw broken('unexpected-event', 'it is not a finished response')
    return this.#guard.pass([finish])
  }

  #keep({ payload, source }: Whole): void {
    this.#payloads.push(source === undefined ? this.#guard.parsed(payload) : payload)
    if (source !== undefined) this.#sources.push(source)
    this.#whole = this.#decoded()
  }

  #decoded(): Decoding {
    const [first, ...others] = this.#payloads
    const isOne = others.length === 0
    const hasSources = this.#sources.length === this.#payloads.length
    const source = isOne ? this.#sources[0] : `[${this.#sources.join()}]`
    return this.#adapter.decode(isOne ? first : this.#payloads, {
      ...this.#context,
      ...(hasSources && source !== undefined && { source }),
    })
  }
}
