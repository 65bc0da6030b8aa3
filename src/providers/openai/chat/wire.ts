import type { JsonObject, JsonValue } from '../../../core/json.ts'

/** A message of a request or a response, as far as we read it. Every member may be missing or odd. */
export interface ChatMessage {
  readonly role?: JsonValue
  readonly content?: JsonValue
  readonly refusal?: JsonValue
  readonly tool_calls?: JsonValue
  readonly tool_call_id?: JsonValue
  readonly name?: JsonValue
  /** The form that came before `tool_calls`; it has no id. */
  readonly function_call?: JsonValue
  readonly [member: string]: JsonValue
}

/** A call, whole or a piece of one: a piece has `index`, and most have nothing else but arguments. */
export interface ChatCall {
  readonly index?: JsonValue
  readonly id?: JsonValue
  readonly type?: JsonValue
  readonly function?: JsonValue
  readonly custom?: JsonValue
  readonly [member: string]: JsonValue
}

/** A response or one chunk of a streamed one. */
export interface ChatResponse {
  readonly id?: JsonValue
  readonly choices?: JsonValue
  readonly usage?: JsonValue
  readonly error?: JsonValue
  readonly [member: string]: JsonValue
}

/** One answer of a response: `message` when whole, `delta` in a chunk. */
export interface ChatChoice {
  readonly index?: JsonValue
  readonly message?: JsonValue
  readonly delta?: JsonValue
  readonly finish_reason?: JsonValue
  readonly error?: JsonValue
}

/** The part of a request that holds the conversation. */
export interface ChatPart {
  readonly messages: JsonObject[]
}

/** The inner part of a call: what is asked of which tool. */
export interface ChatFunction {
  readonly name?: JsonValue
  /** Text of JSON; some servers send the object itself. */
  readonly arguments?: JsonValue
  /** The free text of a custom tool. */
  readonly input?: JsonValue
}
