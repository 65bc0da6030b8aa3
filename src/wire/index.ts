import { BobbinError } from '../core/error.ts'
import { IdLedger } from '../core/ids.ts'
import type { EncodeOptions } from '../model/encoder.ts'
import type { Finish } from '../model/model-event.ts'
import { randomSecret, syntheticIds } from '../model/synthetic-id.ts'
import type { DecodeContext, Decoding, Violation, WireApi } from '../model/wire-adapter.ts'
import type {
  CallItem,
  HistoryItem,
  MessageItem,
  OpenCallItem,
  ThoughtItem,
} from '../records/history-item.ts'
import { adapters } from './adapters.ts'

export type { Repair } from '../model/encoder.ts'
export type { Violation, WireApi } from '../model/wire-adapter.ts'
export type { HistoryItem } from '../records/history-item.ts'

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

/** Speaks one provider's protocol: `wire('anthropic-messages').decode(message).calls`. */
export function wire(api: WireApi, options: WireOptions = {}): Wire {
  const adapter = adapters.find((candidate) => candidate.api === api)
  if (adapter === undefined) {
    const known = adapters.map((candidate) => `\`${candidate.api}\``).join(', ')
    const message = `\`${String(api)}\` is no protocol that \`wire\` speaks: use one of ${known}.`
    throw new BobbinError('E_UNKNOWN_PAYLOAD', message, { api: String(api) })
  }
  const mint = syntheticIds({ secret: options.secret ?? randomSecret() })
  const context = (): DecodeContext => ({ mint, ids: new IdLedger() })

  function decodeStream(events: Iterable<unknown>): Decoded
  function decodeStream(events: AsyncIterable<unknown>): Promise<Decoded>
  function decodeStream(events: Iterable<unknown> | AsyncIterable<unknown>) {
    if (Symbol.asyncIterator in events) return decodeAsync(events)
    const reading = startReading()
    for (const event of events) reading.push(event)
    return reading.decoded()
  }

  async function decodeAsync(events: AsyncIterable<unknown>): Promise<Decoded> {
    const reading = startReading()
    for await (const event of events) reading.push(event)
    return reading.decoded()
  }

  function startReading() {
    const decoder = adapter!.decodeStream(context())
    let finish: Finish | undefined
    return {
      push: (event: unknown) => {
        for (const told of decoder.push(event)) if (told.type === 'finish') finish = told
      },
      decoded: () =>
        viewsOf(
          finish === undefined ? { items: decoder.partial() } : { items: finish.items, finish },
        ),
    }
  }

  return {
    api,
    decode: (payload) => viewsOf(adapter.decode(payload, context())),
    decodeStream,
    encode: (items, encodeOptions) => {
      const encoder = adapter.encoder(encodeOptions)
      for (const item of items) encoder.push(item)
      return encoder.part()
    },
    validate: (payload) => adapter.validate(payload),
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
