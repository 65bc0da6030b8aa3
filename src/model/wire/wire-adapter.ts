import type { IdLedger } from '../../core/ids.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { ModelEvent } from '../events/model-event.ts'
import type { EncodeOptions } from './encode-groups.ts'
import type { MintId } from './synthetic-id.ts'

/** The name of a protocol, e.g. `openai-responses`. Anyone may define another. */
export type WireApi = string

/**
 * The pure half of a provider: wire values to neutral items and back. It never connects, runs tools,
 * hashes arguments or spools.
 */
export interface WireAdapter<Part extends object = object> {
  /** The protocol, e.g. `openai-responses`. */
  readonly api: WireApi
  /** Who serves it, e.g. `openai`. */
  readonly provider: string
  /** Decodes a response, one item, a list of items, or a whole request history. */
  decode(payload: unknown, context: DecodeContext): Decoding
  /** Starts the reducer for one streamed response. */
  decodeStream(context: DecodeContext): StreamDecoder
  /** The part of a request that holds this history. */
  encode(items: readonly HistoryItem[], options?: EncodeOptions): Part
  /** The provider's own rules as code. What `encode` gives breaks none. */
  validate?(payload: unknown): readonly Violation[]
}

/** What a decoder is given besides the payload. */
export interface DecodeContext {
  readonly mint: MintId
  /** Ids in use already; the decoder claims its own from it. */
  readonly ids?: IdLedger
  /** Written on `providerData`, so that opaque state is replayed only there. */
  readonly endpoint?: string
  readonly modelFamily?: string
  /**
   * The text that a whole payload was parsed from, where there is one: `JSON.parse` has by then merged
   * duplicate keys and rounded integers in arguments that the wire sends as objects.
   */
  readonly source?: string
  /** The body of the request that the payload answers, where that is known. */
  readonly body?: object
  /** Receives the token of a response that the provider keeps, as soon as it is known. */
  onKept?(token: string): void
}

/** What a payload holds. `finish` is there when it was a finished response. */
export interface Decoding {
  readonly items: readonly HistoryItem[]
  readonly finish?: Extract<ModelEvent, { type: 'finish' }>
  /** The token of a response that stopped at the limit of one request. */
  readonly continuation?: string
}

/** The reducer over parsed wire events: state inside, one event in, model events out. */
export interface StreamDecoder {
  /**
   * Throws `E_STREAM_BROKEN` on an event that cannot be, and the provider's error on an error event.
   * After the terminal event it gives nothing more. `source` is the event's text, where there is
   * one: `JSON.parse` has by then merged duplicate keys and rounded integers in parsed arguments.
   */
  push(event: unknown, source?: string): readonly ModelEvent[]
  /** The transport ended. Throws `E_STREAM_BROKEN` unless `finish` was given or is given now. */
  end(): readonly ModelEvent[]
  /** The items of an unfinished response: text and thoughts, never a runner's call. */
  partial(): readonly HistoryItem[]
  /** The token of a response that stopped at the limit of one request; what the next request gives is pushed here too. */
  readonly continuation?: string | undefined
}

/** One broken rule of a provider. */
export interface Violation {
  /** A short stable name, e.g. `missing-result`. */
  readonly rule: string
  /** Where in the payload, e.g. `input[3].call_id`. */
  readonly path: string
  readonly message: string
  /** The provider's error that obeying the rule prevents. */
  readonly prevents: string
}

/** A rule of a provider as data: what it is called, what it prevents, where it is broken. */
export interface WireRule<Payload> {
  readonly rule: string
  readonly prevents: string
  check(payload: Payload): Iterable<{ readonly path: string; readonly message: string }>
}

/** Applies rules in order and names in each violation the error it would have caused. */
export function applyRules<Payload>(
  rules: readonly WireRule<Payload>[],
  payload: Payload,
): readonly Violation[] {
  return rules.flatMap(({ rule, prevents, check }) =>
    Array.from(check(payload), (fault) => ({ rule, prevents, ...fault })),
  )
}
