import { isBobbinError } from '../core/error/error.ts'
import { isIterable, isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { IdLedger } from '../core/ids.ts'
import type { Finish } from '../model/events/model-event.ts'
import type { ProviderDefinition } from '../model/provider-definition.ts'
import type { EncodeOptions } from '../model/wire/encode-groups.ts'
import { randomSecret, syntheticIds } from '../model/wire/synthetic-id.ts'
import type {
  DecodeContext,
  Decoding,
  StreamDecoder,
  Violation,
} from '../model/wire/wire-adapter.ts'
import { checkItem } from '../records/check-item.ts'
import type {
  CallItem,
  HistoryItem,
  MessageItem,
  OpenCallItem,
  ThoughtItem,
} from '../records/history-item.ts'
import { definitionOf, type WireApi } from './definition-of.ts'
import { shapeViolations } from './shape-rule.ts'

export type { EncodeOptions, Repair } from '../model/wire/encode-groups.ts'
export type { Violation } from '../model/wire/wire-adapter.ts'
export type { HistoryItem } from '../records/history-item.ts'
export type { RequestPart } from '../store/entry.ts'
export type { WireApi } from './definition-of.ts'
export type { KnownApi } from './providers.ts'
export { type RebuiltRequest, type RequestQuery, requestOf } from './request-of.ts'
export { type SeedInput, seed } from './seed.ts'

/** From what a codec mints ids. */
export interface WireOptions {
  /**
   * 32 bytes from which ids are derived for calls that arrive without one. With the same secret the
   * same history gives the same ids in any process; without one, in this `wire` only.
   */
  readonly secret?: Uint8Array
}

/** What a payload holds, in wire order, and three views on it. */
export interface Decoded {
  readonly items: readonly HistoryItem[]
  readonly messages: readonly MessageItem[]
  readonly thoughts: readonly ThoughtItem[]
  /** Calls with and without result, open ones (`type: 'openCall'`) included. */
  readonly calls: readonly (CallItem | OpenCallItem)[]
  /** How the response ended; absent for histories and for streams that were cut. */
  readonly finish?: Finish
}

/** One protocol without a connection: its values to neutral items and back. */
export interface Wire {
  readonly api: WireApi
  /** Reads a response, one item, a list of items, or a whole request history. */
  decode(payload: unknown): Decoded
  /** Reads the parsed events of one streamed response. A cut stream gives no call of the runner's. */
  decodeStream(events: Iterable<unknown>): Decoded
  decodeStream(events: AsyncIterable<unknown>): Promise<Decoded>
  /** The part of a request that holds the conversation; spread it into the rest. */
  encode(items: Iterable<HistoryItem>, options?: EncodeOptions): object
  /** What the provider would refuse; empty for everything that `encode` gives. */
  validate(payload: unknown): readonly Violation[]
}

/** Speaks one protocol, of this package by name or any by its definition: `wire('anthropic-messages').decode(message).calls`. */
export function wire(api: WireApi | ProviderDefinition, options: WireOptions = {}): Wire {
  const adapter = definitionOf(api, { by: 'wire' })
  requireOptions('wire', options)
  const { secret = randomSecret() } = options
  if (!(secret instanceof Uint8Array) || secret.length < 32) {
    throw wrongInput('wire', 'secret', 'must be a Uint8Array of at least 32 bytes, or be left out')
  }
  const mint = syntheticIds({ secret })
  const context = (): DecodeContext => ({ mint, ids: new IdLedger() })

  function decodeStream(events: Iterable<unknown>): Decoded
  function decodeStream(events: AsyncIterable<unknown>): Promise<Decoded>
  function decodeStream(events: Iterable<unknown> | AsyncIterable<unknown>) {
    const reading = readEvents(adapter.decodeStream(context()))
    if (isObject(events) && Symbol.asyncIterator in events) return reading.all(events)
    if (!isIterable(events)) {
      const rule = 'must be the parsed events of one stream: a list, or an async iterable'
      throw wrongInput('wire.decodeStream', 'events', rule)
    }
    for (const event of events) reading.push(event)
    return reading.decoded()
  }

  return {
    api: adapter.api,
    decode: (payload) => viewsOf(adapter.decode(payload, context())),
    decodeStream,
    encode: (items, encodeOptions = {}) => {
      requireOptions('wire.encode', encodeOptions)
      if (!isIterable(items)) {
        throw wrongInput(
          'wire.encode',
          'items',
          'must be a list, such as `decode` gives as `items`',
        )
      }
      const history = [...items]
      for (const [at, item] of history.entries()) {
        checkItem(item, (path, rule) => wrongInput('wire.encode', `items[${at}]${path}`, rule))
      }
      return adapter.encode(history, encodeOptions)
    },
    validate: (payload) => {
      const misshapen = shapeViolations(adapter, payload)
      return misshapen.length > 0 ? misshapen : (adapter.validate?.(payload) ?? [])
    },
  }
}

function readEvents(decoder: StreamDecoder) {
  let finish: Finish | undefined
  const push = (event: unknown) => {
    for (const made of decoder.push(event)) if (made.type === 'finish') finish = made
  }
  const decoded = () => {
    if (finish === undefined) settle()
    return viewsOf(
      finish === undefined ? { items: decoder.partial() } : { items: finish.items, finish },
    )
  }
  // Some protocols end without a last event. A cut stream is not an error here, and gives no call.
  function settle() {
    try {
      for (const made of decoder.end()) if (made.type === 'finish') finish = made
    } catch (error) {
      if (!isBobbinError(error, 'E_STREAM_BROKEN')) throw error
    }
  }
  return {
    push,
    decoded,
    all: async (events: AsyncIterable<unknown>) => {
      for await (const event of events) push(event)
      return decoded()
    },
  }
}

function viewsOf({ items, finish }: Decoding): Decoded {
  return {
    items,
    messages: items.filter((item) => item.type === 'message'),
    thoughts: items.filter((item) => item.type === 'thought'),
    calls: items.filter((item) => item.type === 'call' || item.type === 'openCall'),
    ...(finish !== undefined && { finish }),
  }
}
