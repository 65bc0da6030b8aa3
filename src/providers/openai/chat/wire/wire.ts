import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asObject } from '../../../../model/wire/wire-value.ts'

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

/**
 * The inner part of a call or of a piece of one. Its `type` says which; some servers write both members, one of them
 * empty, and leave `type` out of later pieces.
 */
export function askedOf(call: ChatCall): { kind: 'function' | 'custom'; asked: ChatFunction } {
  const custom: ChatFunction | undefined = asObject(call.custom)
  const named: ChatFunction | undefined = asObject(call.function)
  const saysSomething = Boolean(custom?.name) || Boolean(custom?.input)
  const isCustom = named === undefined || (call.type !== 'function' && saysSomething)
  if (custom !== undefined && (isCustom || call.type === 'custom')) {
    return { kind: 'custom', asked: custom }
  }
  return { kind: 'function', asked: named ?? {} }
}

/** True for a call that is neither a function's nor a custom one. */
export function isNewKind(call: ChatCall): boolean {
  const { type } = call
  if (typeof type !== 'string' || type === '' || type === 'function' || type === 'custom') {
    return false
  }
  return asObject(call.function) === undefined && asObject(call.custom) === undefined
}

/** True when a `function_call` names no function and has no arguments: some servers always send one. */
export function isEmptyCall({ name, arguments: args }: ChatFunction): boolean {
  return !name && !args
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

/** The inner part of a call: the tool and its arguments. */
export interface ChatFunction {
  readonly name?: JsonValue
  /** Text of JSON; some servers send the object itself. */
  readonly arguments?: JsonValue
  /** The free text of a custom tool. */
  readonly input?: JsonValue
}
