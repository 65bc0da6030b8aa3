import type { Interactions } from '@google/genai'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asText } from '../../../../model/wire/wire-value.ts'

export const API = 'gemini-interactions'
export const PROVIDER = 'google'

/** A step of `input` or `steps`, as far as we read it. Tolerant: every member may be missing or odd. */
export interface WireStep {
  readonly type?: JsonValue
  readonly id?: JsonValue
  readonly call_id?: JsonValue
  readonly name?: JsonValue
  readonly server_name?: JsonValue
  readonly arguments?: JsonValue
  readonly result?: JsonValue
  readonly is_error?: JsonValue
  readonly signature?: JsonValue
  readonly summary?: JsonValue
  readonly content?: JsonValue
  readonly [member: string]: JsonValue
}

/** A response, whole or as the events of a stream hold it. */
export interface WireInteraction {
  readonly id?: JsonValue
  readonly status?: JsonValue
  readonly steps?: JsonValue
  readonly errors?: JsonValue
  readonly error?: JsonValue
  readonly usage?: JsonValue
  readonly continuation_token?: JsonValue
}

/** A stream event. */
export interface WireEvent extends WireInteraction {
  readonly event_type?: JsonValue
  readonly index?: JsonValue
  readonly step?: JsonValue
  readonly delta?: JsonValue
  readonly interaction?: JsonValue
}

/** The part of a request that holds the conversation, in the client's own words. */
export interface InteractionsPart {
  readonly system_instruction?: string
  readonly input: Interactions.Step[]
}

/** The tools that the provider runs: each has a step that calls and a step with the result. */
export const SERVER_TOOLS = [
  'code_execution',
  'file_search',
  'google_maps',
  'google_search',
  'mcp_server_tool',
  'processing',
  'retrieval',
  'url_context',
] as const

/** Which tool of the provider's a step belongs to. */
export interface ServerStep {
  readonly tool: string
  readonly isCall: boolean
}

const SERVER_STEPS = new Map<string, ServerStep>()
for (const tool of SERVER_TOOLS) {
  SERVER_STEPS.set(`${tool}_call`, { tool, isCall: true })
  SERVER_STEPS.set(`${tool}_result`, { tool, isCall: false })
}

/** What a step of the provider's tools is; undefined for other steps. */
export function serverStep(type: string): ServerStep | undefined {
  return SERVER_STEPS.get(type)
}

export function typeOf(step: WireStep | undefined): string {
  return asText(step?.type) ?? ''
}

/** True for what the client sends: what a person said, and the results of functions. */
export function isInput(type: string): boolean {
  return type === 'user_input' || type === 'function_result'
}

const CAMEL = /^[a-z]+(?:[A-Z][a-z\d]*)+$/

/**
 * The members of one object in snake_case, which is the spelling that the provider sends. Where an object has both
 * spellings, this one counts.
 */
export function inSnakeCase<T extends JsonObject>(object: T): T {
  if (!Object.keys(object).some((name) => CAMEL.test(name))) return object
  const entries = Object.entries(object).map(([name, value]): [string, JsonValue] => {
    const snake = CAMEL.test(name)
      ? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      : name
    const isTaken = snake !== name && (object[snake] ?? null) !== null
    return [isTaken ? name : snake, value]
  })
  // Nulls first: they say nothing and must not replace the same member in the other spelling.
  const isSaid = ([, value]: [string, JsonValue]) => Number(value !== null)
  return Object.fromEntries(entries.toSorted((a, b) => isSaid(a) - isSaid(b))) as T
}
