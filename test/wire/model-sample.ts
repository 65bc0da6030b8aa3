import type { ModelRequest } from '../../src/model/model.ts'
import type { LoopbackExchange } from '../../src/testing/index.ts'

/** What a factory takes besides the client; hosted tools and parameters are the provider's own. */
export interface ModelSettings {
  readonly model?: string
  readonly streaming?: boolean
  readonly hostedTools?: readonly object[]
  readonly params?: object
  readonly now?: () => number
  readonly maxResponseBytes?: number
  /** Of protocols that take requests to cache. */
  readonly cache?: boolean
  /** Of protocols that can append changed instructions and tools. */
  readonly appends?: boolean
  /** Of Claude alone. */
  readonly boundThinking?: boolean
}

/** One protocol's words for a conversation about the weather, and for what can go wrong in it. */
export interface ModelSample {
  readonly model: string
  /** A model of another family, which may not see the state of the first. */
  readonly stranger: string
  /** A response with a thought and two calls, streamed and whole. */
  readonly ask: Required<Pick<LoopbackExchange, 'events' | 'body'>>
  readonly answer: Required<Pick<LoopbackExchange, 'events' | 'body'>>
  /** The body of the request that brings the results of `ask`. */
  sent(isStream: boolean): object
  /** Settings and a request, and what of them is in the body. */
  readonly custom: {
    readonly settings: ModelSettings
    readonly request: Partial<ModelRequest>
    readonly body: object
  }
  /** Members that a request without tools must not have, whatever choice of tools it asks for. */
  readonly choiceMembers: readonly string[]
  /** Whole responses that are not finished, where the protocol can tell. */
  readonly unfinished: readonly object[]
  readonly failures: readonly (readonly [status: number, body: unknown, code: string])[]
  readonly retry: { readonly exchange: LoopbackExchange; readonly retryAfterMs: number }
}

/** Stands for opaque state: only its own endpoint and model family get it back. */
export const SECRET = 'c2VjcmV0'

export const QUESTION = { type: 'text', text: 'Weather?' } as const
export const SCHEMA = { type: 'object' }
export const REQUEST: ModelRequest = {
  instructions: 'Be brief.',
  items: [{ type: 'message', role: 'user', parts: [QUESTION] }],
  tools: [{ name: 'get_weather', description: 'Weather.', inputSchema: SCHEMA }],
}

export const CITIES = [
  ['call_1', 'Oslo'],
  ['call_2', 'Rome'],
] as const
export const ANSWER = '4 and 18.'
export const OUTPUT = { name: 'out', schema: SCHEMA }
export const AFTER_SEVEN = { status: 429, headers: { 'retry-after': '7' } }
