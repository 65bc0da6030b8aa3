import type { FinishReason } from '../../../../model/events/finish-reason.ts'
import type { IdRules } from '../../../../model/wire/id-projection.ts'

/**
 * How a server that speaks Chat Completions differs from the others, as far as a request must know.
 * What servers send is read tolerantly and needs no setting.
 */
export interface ChatQuirks {
  /** What ids of other providers are fitted to; a server's own ids go back as they came, if they may. */
  readonly ids: IdRules
  /** Takes ids of letters and digits of exactly this length only (8 to 64), e.g. 9 on Mistral. */
  readonly exactIdLength?: number
  readonly maxNameLength: number
  /** The role of instructions. */
  readonly systemRole: 'system' | 'developer'
  /** The content of an assistant message that only calls tools. */
  readonly emptyContent: null | ''
  /** Members of an assistant message, beyond the standard ones, that the server wants back. */
  readonly echoes: readonly string[]
  /** Whether `stream_options` may ask for the token counts of a stream. */
  readonly streamUsage: boolean
  /** Whether requests get a `prompt_cache_key`; those to OpenAI's own hosts get one anyway. */
  readonly promptCacheKey: boolean
  /** Whether `tool_choice` may name a tool. Otherwise that tool is the only one offered, and required. */
  readonly namedToolChoice: boolean
  /** How structured output is asked for. With `json_object` the instructions hold the schema. */
  readonly outputFormat: 'json_schema' | 'json_object'
  /** Members of `params` that the server knows under another name. */
  readonly renames: Readonly<Record<string, string>>
}

/** The longest id of its own that the protocol takes back. */
export const MAX_ID = 64

/**
 * Safe on OpenAI and on every compatible server we know of: 40 characters are within both limits that
 * have been reported for ids (40 and 64), and reasoning goes back only to the endpoint that sent it,
 * where several servers refuse the request without it.
 */
export const CHAT_QUIRKS: ChatQuirks = {
  ids: {
    refused: /[^a-zA-Z0-9_-]/g,
    maxLength: 40,
    takesBack: ({ length }) => length <= MAX_ID,
  },
  maxNameLength: 64,
  systemRole: 'system',
  emptyContent: null,
  echoes: ['extra_content', 'reasoning_content', 'reasoning', 'reasoning_details', 'prefix'],
  streamUsage: true,
  promptCacheKey: false,
  namedToolChoice: true,
  outputFormat: 'json_schema',
  renames: {},
}

/** The members in which servers send reasoning, in the order in which the first one is read. */
export const REASONING_MEMBERS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const

/** What the words of the protocol, and of the servers that add some, mean; in small letters. */
export const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['complete', 'stop'],
  ['completed', 'stop'],
  ['tool_calls', 'tools'],
  ['function_call', 'tools'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'filter'],
  ['insufficient_system_resource', 'error'],
  ['error', 'error'],
  ['abort', 'error'],
])
