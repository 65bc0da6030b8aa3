import type { WireApi } from '../../model/wire/wire-adapter.ts'

export type Fields = Readonly<Record<string, unknown>>

/** A function that the model may call. */
interface Declared {
  readonly name: string
  readonly description?: unknown
  readonly schema: unknown
}

type Choice = 'auto' | 'none' | 'required' | { readonly tool: string }

interface RequestTools {
  readonly tools: readonly Declared[]
  readonly choice: Choice | undefined
  /** Members of the request that were read. */
  readonly taken: readonly string[]
  /** Tools and choices that have no common form. */
  readonly left: readonly string[]
}

const NO_PARAMETERS = { type: 'object', properties: {} }
const CHOICES = ['tool_choice', 'toolChoice', 'toolConfig', 'tool_config']

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map(fieldsOf) : []

/** Reads the functions that a request declares, and the choice among them. */
export function readTools(request: Fields, from: WireApi): RequestTools {
  const left: string[] = []
  const tools = listOf(request['tools']).flatMap((tool) => {
    const functions = declaredBy(tool, from)
    if (functions.length === 0) left.push(`the tool \`${titleOf(tool)}\``)
    return functions
  })
  const given = CHOICES.find((name) => request[name] !== undefined && request[name] !== null)
  const choice = given === undefined ? undefined : choiceOf(request[given])
  if (given !== undefined && choice === undefined) left.push(`\`${given}\``)
  return { tools, choice, taken: ['tools', ...CHOICES], left }
}

function declaredBy(tool: Fields, from: WireApi): readonly Declared[] {
  if (from === 'gemini') {
    return listOf(tool['functionDeclarations'] ?? tool['function_declarations']).flatMap(declared)
  }
  if (from === 'anthropic-messages') return tool['input_schema'] === undefined ? [] : declared(tool)
  if (tool['type'] !== 'function') return []
  return declared(from === 'openai-chat' ? fieldsOf(tool['function']) : tool)
}

function declared(tool: Fields): readonly Declared[] {
  const { name, description, parameters, input_schema, parametersJsonSchema } = tool
  if (typeof name !== 'string') return []
  const schema = parametersJsonSchema ?? input_schema ?? lowerTypes(parameters) ?? NO_PARAMETERS
  return [{ name, ...(description !== undefined && { description }), schema }]
}

const MAX_DEPTH = 100

/** Gemini's own form of a schema writes types in capitals. */
function lowerTypes(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return schema
  if (Array.isArray(schema)) return schema.map((each) => lowerTypes(each, depth + 1))
  const entries = Object.entries(schema).map(([key, value]: [string, unknown]) => {
    const isType = key === 'type' && typeof value === 'string' && /^[A-Z]+$/.test(value)
    return [key, isType ? value.toLowerCase() : lowerTypes(value, depth + 1)]
  })
  return Object.fromEntries(entries)
}

/** What a tool without a common form is called. */
function titleOf(tool: Fields): string {
  const { type, name } = tool
  if (typeof type === 'string') return type
  return typeof name === 'string' ? name : (Object.keys(tool)[0] ?? 'unknown')
}

const WORDS: Readonly<Record<string, Choice | undefined>> = {
  __proto__: null as never,
  auto: 'auto',
  none: 'none',
  required: 'required',
  any: 'required',
  validated: 'auto',
}

function choiceOf(value: unknown): Choice | undefined {
  if (typeof value === 'string') return WORDS[value]
  const given = fieldsOf(value)
  const config = fieldsOf(given['functionCallingConfig'] ?? given['function_calling_config'])
  const only: unknown = config['allowedFunctionNames'] ?? config['allowed_function_names']
  const name = given['name'] ?? fieldsOf(given['function'])['name']
  if (typeof name === 'string') return { tool: name }
  if (Array.isArray(only)) return only.length === 1 ? { tool: String(only[0]) } : undefined
  const word = given['type'] ?? config['mode']
  return typeof word === 'string' ? WORDS[word.toLowerCase()] : undefined
}

/** The same functions and the same choice as another protocol writes them. */
export function writeTools({ tools, choice }: RequestTools, to: WireApi): Fields {
  if (tools.length === 0) return {}
  return { tools: writeList(tools, to), ...(choice !== undefined && writeChoice(choice, to)) }
}

function writeList(tools: readonly Declared[], to: WireApi): readonly object[] {
  if (to === 'gemini') {
    const write = ({ schema, ...tool }: Declared) => ({ ...tool, parametersJsonSchema: schema })
    return [{ functionDeclarations: tools.map(write) }]
  }
  return tools.map(({ schema, ...tool }) => {
    if (to === 'anthropic-messages') return { ...tool, input_schema: schema }
    const named = { ...tool, parameters: schema }
    return to === 'openai-chat'
      ? { type: 'function', function: named }
      : { type: 'function', ...named }
  })
}

function writeChoice(choice: Choice, to: WireApi): object {
  const isNamed = typeof choice === 'object'
  if (to === 'gemini') {
    const mode = isNamed || choice === 'required' ? 'ANY' : choice.toUpperCase()
    const only = isNamed ? { allowedFunctionNames: [choice.tool] } : {}
    return { toolConfig: { functionCallingConfig: { mode, ...only } } }
  }
  if (to === 'anthropic-messages') {
    const word = choice === 'required' ? 'any' : choice
    return { tool_choice: isNamed ? { type: 'tool', name: choice.tool } : { type: word } }
  }
  if (!isNamed) return { tool_choice: choice }
  const named = to === 'openai-chat' ? { function: { name: choice.tool } } : { name: choice.tool }
  return { tool_choice: { type: 'function', ...named } }
}
