import type { WireApi } from '../../model/wire/wire-adapter.ts'
import { type Fields, readTools, writeTools } from './request-tools.ts'

/** Where each protocol has a parameter. The first name is the one to write; the others are only read. */
type Names = Readonly<Record<string, readonly string[]>>

const RESPONSES: Names = {
  maxTokens: ['max_output_tokens'],
  temperature: ['temperature'],
  topP: ['top_p'],
  stream: ['stream'],
}
const NAMES: Readonly<Partial<Record<WireApi, Names>>> = {
  'openai-responses': RESPONSES,
  foundry: RESPONSES,
  'openai-chat': {
    maxTokens: ['max_completion_tokens', 'max_tokens'],
    temperature: ['temperature'],
    topP: ['top_p'],
    stop: ['stop'],
    seed: ['seed'],
    stream: ['stream'],
  },
  'anthropic-messages': {
    maxTokens: ['max_tokens'],
    temperature: ['temperature'],
    topP: ['top_p'],
    topK: ['top_k'],
    stop: ['stop_sequences'],
    stream: ['stream'],
  },
  gemini: {
    maxTokens: ['maxOutputTokens', 'max_output_tokens'],
    temperature: ['temperature'],
    topP: ['topP', 'top_p'],
    topK: ['topK', 'top_k'],
    stop: ['stopSequences', 'stop_sequences'],
    seed: ['seed'],
  },
}

/** The members that hold the conversation; the wire itself carries them. */
const CONVERSATION = [
  'messages',
  'input',
  'contents',
  'instructions',
  'system',
  'systemInstruction',
  'system_instruction',
  'container',
]
const GROUPS = ['config', 'generationConfig', 'generation_config'] as const

export interface CarriedSettings {
  /** Members of the request in the other protocol. */
  readonly settings: Fields
  /** Names of members that the other protocol does not get. */
  readonly left: readonly string[]
}

/** Carries tools, the choice among them and common parameters of a request to another protocol. */
export function carrySettings(request: Fields, from: WireApi, to: WireApi): CarriedSettings {
  const flat = flattened(request, from)
  const [names, others] = [NAMES[from], NAMES[to]]
  if (names === undefined || others === undefined) {
    const left = Object.keys(flat).filter((name) => !CONVERSATION.includes(name))
    return { settings: {}, left: left.map((name) => `\`${name}\``) }
  }
  const tools = readTools(flat, from)
  const taken = new Set([...tools.taken, ...CONVERSATION])
  const values: Record<string, unknown> = {}
  const left = [...tools.left]
  for (const [name, value] of Object.entries(flat)) {
    if (taken.has(name) || value === undefined || value === null) continue
    const neutral = Object.keys(names).find((key) => names[key]?.includes(name))
    const target = neutral === undefined ? undefined : others[neutral]?.[0]
    if (target === undefined) left.push(`\`${name}\``)
    else values[target] = neutral === 'stop' && typeof value === 'string' ? [value] : value
  }
  const isGrouped = to === 'gemini' && Object.keys(values).length > 0
  const settings = isGrouped ? { generationConfig: values } : values
  return { settings: { ...writeTools(tools, to), ...settings }, left }
}

/** Gemini has its parameters in groups, and its clients in others. */
function flattened(request: Fields, from: WireApi): Fields {
  if (from !== 'gemini') return request
  const groups = GROUPS.map((group) => request[group] as Fields | undefined)
  const rest = Object.entries(request).filter(([name]) => !GROUPS.includes(name as 'config'))
  return Object.assign(Object.fromEntries(rest) as Record<string, unknown>, ...groups) as Fields
}
