import type { IdLedger } from '../core/ids.ts'
import type { HistoryItem } from '../records/history-item.ts'
import type { EncodeOptions } from './encoder.ts'
import type { ModelEvent } from './model-event.ts'
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
  /** Starts the encoder for one request; push items, take the part. */
  encoder(options?: EncodeOptions): WireEncoder<Part>
  /** The provider's own rules as code. What `encoder` gives breaks none. */
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
  /** What can be told of an unfinished response: text and thoughts, and never a runner's call. */
  partial(): readonly HistoryItem[]
}

/** What a part may need to know of the request besides the history. */
export interface PartOptions {
  /** For the wires that take them as the first message; others have a place of their own for them. */
  readonly instructions?: string | undefined
}

/** Encodes a history piece by piece: the cost of a push does not depend on what came before. */
export interface WireEncoder<Part extends object> {
  push(...items: readonly HistoryItem[]): void
  /**
   * The request part for everything pushed so far. Its list is the encoder's own and goes on growing,
   * because copying it would cost more with every call: later pushes and parts change it.
   */
  part(options?: PartOptions): Part
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
