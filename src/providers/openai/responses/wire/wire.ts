import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asObject, asText, asWord } from '../../../../model/wire/wire-value.ts'

/** An item of `input` or `output`, as far as we read it. Tolerant: every member may be missing or odd. */
export interface ResponsesItem {
  readonly type?: JsonValue
  readonly id?: JsonValue
  readonly call_id?: JsonValue
  readonly name?: JsonValue
  readonly arguments?: JsonValue
  readonly input?: JsonValue
  readonly output?: JsonValue
  readonly status?: JsonValue
  readonly role?: JsonValue
  readonly content?: JsonValue
  readonly [member: string]: JsonValue
}

/** An item whose type is known. */
export type TypedItem = ResponsesItem & { readonly type: string }

/** A response, whole or as the terminal event holds it. */
export interface ResponsesResponse {
  readonly id?: JsonValue
  readonly status?: JsonValue
  readonly output?: JsonValue
  readonly error?: JsonValue
  readonly incomplete_details?: JsonValue
  readonly usage?: JsonValue
  readonly prompt_cache_diagnostics?: JsonValue
}

/** A stream event. Deltas carry `output_index`, which is the only key that never changes. */
export interface ResponsesEvent {
  readonly type?: JsonValue
  readonly output_index?: JsonValue
  readonly content_index?: JsonValue
  readonly summary_index?: JsonValue
  readonly delta?: JsonValue
  readonly item?: JsonValue
  readonly response?: JsonValue
  readonly error?: JsonValue
  readonly code?: JsonValue
  readonly message?: JsonValue
}

/** The part of a request that holds the conversation. */
export interface ResponsesPart {
  readonly instructions?: string
  readonly input: JsonObject[]
}

export function asItem(value: unknown): ResponsesItem | undefined {
  return asObject(value)
}

/** The type of an item. The protocol lets a message leave it out, and a reference to a stored item too. */
export function typeOf(item: ResponsesItem): string {
  const type = asText(item.type)
  if (type !== undefined) return type
  if (item.role !== undefined) return 'message'
  return asWord(item.id) === undefined ? '' : 'item_reference'
}

/** True for reasoning that the provider knows by its id: the item itself, or a reference to it. */
export function isStoredReasoning(item: ResponsesItem): boolean {
  const type = typeOf(item)
  const id = asWord(item.id)
  if (type === 'reasoning') return id !== undefined
  return type === 'item_reference' && id?.startsWith('rs_') === true
}
