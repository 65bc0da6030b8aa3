import type { JsonValue } from '../../../core/json/json.ts'
import { callArguments } from '../../../model/events/call-arguments.ts'
import type { HistoryBuilder } from '../../../model/wire/history-builder.ts'
import type { ProviderKey } from '../../../model/wire/provider-data.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type { ContentPart } from '../../../records/history-item.ts'
import type { ReasoningBinder } from '../thinking/bound-thinking.ts'
import { decodeContent, decodePart } from '../wire/content.ts'
import { isServerResult, isServerUse } from '../wire/server-tools.ts'
import { type Block, extrasOf } from '../wire/wire.ts'
import { serverResult } from './decode-result.ts'

/** What the blocks of one payload are read into. */
export interface Reading {
  readonly builder: HistoryBuilder
  readonly key: ProviderKey
  /** Who runs the call of an id: a result must not settle a call of the other side. */
  readonly owners: Map<string, 'runner' | 'provider'>
  /** Gives the binding of thinking; only for a response to a known request. */
  readonly binder?: ReasoningBinder
}

type Role = 'user' | 'assistant'

/** Reads the content of one message. Neighbouring texts and media become one message item. */
export function readContent(content: JsonValue | undefined, role: Role, reading: Reading): void {
  if (typeof content === 'string')
    return readBlocks([{ type: 'text', text: content }], role, reading)
  if (Array.isArray(content)) readBlocks(content, role, reading)
}

function readBlocks(blocks: readonly JsonValue[], role: Role, reading: Reading): void {
  let parts: ContentPart[] = []
  const flush = () => {
    if (parts.length > 0) reading.builder.message(role, parts)
    parts = []
  }
  for (const value of blocks) {
    const block = asObject(value)
    const bound = reading.binder?.take(value)
    const part = block === undefined ? undefined : decodePart(block, reading.key)
    if (part !== undefined) {
      // A block that was opened and closed without a word says nothing.
      if (part.type !== 'text' || part.text !== '' || part.providerData) parts.push(part)
      continue
    }
    flush()
    if (block === undefined) reading.builder.raw(value, role)
    else readBlock(bound === undefined ? block : { ...block, bound }, role, reading)
  }
  flush()
}

function readBlock(block: Block, role: Role, reading: Reading): void {
  const type = asText(block['type']) ?? ''
  if (isServerUse(type)) return serverUse(block, type, reading)
  if (isServerResult(type)) return readServerResult(block, type, reading)
  const reader = Object.hasOwn(BLOCK_READERS, type) ? BLOCK_READERS[type] : undefined
  if (reader === undefined) reading.builder.raw(block, role)
  else reader(block, reading)
}

type BlockReader = (block: Block, reading: Reading) => void

const BLOCK_READERS: Readonly<Record<string, BlockReader>> = {
  thinking: (block, { builder }) =>
    builder.thought(asText(block['thinking']) ?? '', extrasOf(block, 'thinking')),
  redacted_thinking: (block, { builder }) => builder.thought('', block),
  tool_use: (block, { builder, owners }) => {
    const id = asText(block['id'])
    if (id !== undefined) owners.set(id, 'runner')
    const isMember = asText(block['toolset_name']) !== undefined
    const data = extrasOf(block, 'type', 'id', 'input', ...(isMember ? [] : ['name']))
    builder.call({
      type: 'tool_use',
      tool: toolOf(block),
      args: block['input'],
      executedBy: 'runner',
      callId: id,
      pairKeys: [IN_ORDER],
      ...(data !== undefined && { data }),
    })
  },
  tool_result: (block, { builder, key, owners }) => {
    const id = asText(block['tool_use_id'])
    if (id !== undefined && owners.get(id) === 'provider') return builder.raw(block, 'user')
    const isError = block['is_error'] === true
    const extras = extrasOf(
      block,
      'type',
      'tool_use_id',
      'content',
      ...(isError ? ['is_error'] : []),
    )
    builder.endResponse()
    builder.result({
      type: 'tool_result',
      tool: UNKNOWN,
      executedBy: 'runner',
      callId: id,
      pairKeys: [IN_ORDER],
      isError,
      parts: decodeContent(block['content'], key),
      ...(extras !== undefined && { data: extras }),
    })
  },
}

const UNKNOWN = 'unknown_tool'
/** Compatible servers leave ids out; then results come in the order of their calls. */
const IN_ORDER = 'type:tool_use'

/** Toolsets share names such as `screenshot`: only both together say which tool is meant. */
export function toolOf(block: Block): string {
  const toolset = asText(block['toolset_name'])
  const name = asText(block['name']) || UNKNOWN
  return toolset === undefined ? name : `${toolset}_${name}`
}

function serverUse(block: Block, type: string, { builder, owners }: Reading): void {
  const id = asText(block['id'])
  const tool = toolOf(block)
  if (id !== undefined) owners.set(id, 'provider')
  // The wire takes back only an object, even if it sent something else.
  const { args } = callArguments(block['input'])
  builder.call({
    type,
    tool,
    args: block['input'],
    executedBy: 'provider',
    callId: id,
    pairKeys: [`server:${familyOf(tool)}`],
    raw: { ...block, input: args },
  })
}

function readServerResult(block: Block, type: string, reading: Reading): void {
  const { builder, key, owners } = reading
  const id = asText(block['tool_use_id'])
  if (id !== undefined && owners.get(id) === 'runner') return builder.raw(block, 'assistant')
  const family = type.replace(/_tool_result$/, '')
  builder.result({
    type,
    tool: family,
    executedBy: 'provider',
    callId: id,
    pairKeys: [`server:${familyOf(family)}`],
    raw: block,
    ...serverResult(block, key),
  })
}

/** Both searches for tools share one type of result. */
function familyOf(tool: string): string {
  return tool.startsWith('tool_search') ? 'tool_search' : tool
}
