import type { IdLedger } from '../../core/ids.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { ModelEvent } from '../events/model-event.ts'
import type { EncodeOptions } from './encode-groups.ts'
import type { MintId } from './synthetic-id.ts'

/** The protocols that have an adapter. */
export const WIRE_APIS = [
  'openai-responses',
  'openai-chat',
  'anthropic-messages',
  'gemini',
  'foundry',
] as const

/** The protocols that are spoken here. */
export type WireApi = (typeof WIRE_APIS)[number]

/**
 * The pure half of a provider: wire values to neutral items and back. It never connects, runs tools,
 * hashes arguments or spools. Each provider folder exports one, and `wire/adapters.ts` lists it.
 */
export interface WireAdapter<Part extends object = object> {
  readonly api: WireApi
  readonly provider: string
  /** Decodes a response, one item, a list of items, or a whole request history. */
  decode(payload: unknown, context: DecodeContext): Decoding
  /** Starts the reducer for one streamed response. */
  decodeStream(context: DecodeContext): StreamDecoder
  /** The part of a request that holds this history. */
  encode(items: readonly HistoryItem[], options?: EncodeOptions): Part
  /** The provider's own rules as code. What `encode` gives breaks none. */
  validate(payload: unknown): readonly Violation[]
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
  /** Tells what the reasoning of the response is bound to, on a wire that binds it. */
  readonly binder?: () => ReasoningBinder
}

/** Follows the blocks of one response in their order. */
export interface ReasoningBinder {
  /** For reasoning, what to store with it, so that a later request can tell whether it still holds. */
  take(block: JsonValue): JsonObject | undefined
}

/** What a payload holds. `finish` is there when it was a finished response. */
export interface Decoding {
  readonly items: readonly HistoryItem[]
  readonly finish?: Extract<ModelEvent, { type: 'finish' }>
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
