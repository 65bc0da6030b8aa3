import type { JsonObject, JsonValue } from '../../../core/json.ts'
import { asObject } from '../../../model/wire-value.ts'

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
