import { text as readAll } from 'node:stream/consumers'
import { thrownText } from '../../core/error/thrown-text.ts'
import { WIRE_APIS, type WireApi } from '../../model/wire/wire-adapter.ts'
import { readNamedFile } from '../command/named-file.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'

/** A conversation in some provider's protocol. */
export interface WireFile {
  readonly payload: unknown
  readonly api: WireApi
  /** The indentation that it was written with. */
  readonly indent: string
}

/** Reads a conversation from a file, or from standard input for `-`, and finds its protocol. */
export async function readWireFile(
  path: string,
  from: string | undefined,
  io: Io,
): Promise<WireFile> {
  const text = path === '-' ? await readAll(io.stdin) : await readNamedFile(io.cwd, path)
  const payload = parse(text, path)
  return { payload, api: apiOf(payload, from, path), indent: /\n([ \t]+)\S/.exec(text)?.[1] ?? '' }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    const items = lines.length > 1 ? parseLines(lines) : undefined
    if (items !== undefined) return items
    const said = thrownText(error)
    throw usageError(`\`${path}\` is not JSON: ${said}. Write one JSON value, or one item a line.`)
  }
}

function parseLines(lines: readonly string[]): unknown[] | undefined {
  try {
    return lines.map((line) => JSON.parse(line) as unknown)
  } catch {
    return undefined
  }
}

/** The protocol by name, or from the shape of the payload. */
function apiOf(payload: unknown, from: string | undefined, path: string): WireApi {
  if (from !== undefined) return readApi(from, '--from')
  const found = detectApi(payload)
  if (found !== undefined) return found
  throw usageError(
    `\`${path}\` does not show which protocol it is in: name it with --from ${WIRE_APIS.join(' | ')}.`,
  )
}

export function readApi(name: string, option: string): WireApi {
  const api = WIRE_APIS.find((each) => each === name)
  if (api !== undefined) return api
  throw usageError(`\`${option} ${name}\` names no protocol: use ${WIRE_APIS.join(', ')}.`)
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldsIn = (value: unknown): readonly Fields[] =>
  (Array.isArray(value) ? value : [value]).filter(isFields)

/** The protocol of a payload, as far as its shape shows it. */
function detectApi(payload: unknown): WireApi | undefined {
  const [whole] = isFields(payload) ? [payload] : []
  if (whole?.['contents'] !== undefined || whole?.['candidates'] !== undefined) return 'gemini'
  const entries = fieldsIn(whole?.['messages'] ?? whole?.['input'] ?? whole?.['output'] ?? payload)
  if (entries.some((entry) => Array.isArray(entry['parts']))) return 'gemini'
  if (whole?.['agent_reference'] !== undefined || whole?.['agent'] !== undefined) return 'foundry'
  if (entries.some(isFoundryItem)) return 'foundry'
  if (whole?.['input'] !== undefined || whole?.['output'] !== undefined) return 'openai-responses'
  if (entries.some(isResponsesItem)) return 'openai-responses'
  if (isMessages(whole, entries)) return 'anthropic-messages'
  const isChat = whole?.['choices'] !== undefined || entries.some((entry) => 'role' in entry)
  return isChat ? 'openai-chat' : undefined
}

const isFoundryItem = ({ type }: Fields) =>
  typeof type === 'string' &&
  (/_preview_call(_output)?$/.test(type) ||
    /^(azure_|bing_|openapi_call|oauth_consent|workflow_action|memory_search_call)/.test(type))

const isResponsesItem = ({ type, role }: Fields) =>
  typeof type === 'string' &&
  (/_call(_output)?$|^(reasoning|item_reference|mcp_|tool_search_output|compaction)/.test(type) ||
    (type === 'message' && role !== undefined))

const BLOCKS = /^(tool_use|tool_result|server_tool_use|thinking|redacted_thinking|\w+_tool_result)$/

/** Anthropic's messages differ from chat by their blocks, by `system` beside them, or by their tools. */
function isMessages(whole: Fields | undefined, entries: readonly Fields[]): boolean {
  const chatOnly = entries.some(
    ({ role, tool_calls }) =>
      tool_calls !== undefined || role === 'tool' || role === 'system' || role === 'developer',
  )
  if (chatOnly) return false
  const blocks = entries.flatMap(({ content }) => (Array.isArray(content) ? fieldsIn(content) : []))
  if (blocks.some(({ type }) => typeof type === 'string' && BLOCKS.test(type))) return true
  if (entries.some(({ type }) => typeof type === 'string' && BLOCKS.test(type))) return true
  if (whole?.['system'] !== undefined || whole?.['anthropic_version'] !== undefined) return true
  return fieldsIn(whole?.['tools']).some(({ input_schema }) => input_schema !== undefined)
}
