import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { HistoryBuilder } from '../../../model/wire/history-builder.ts'
import type { ProviderKey } from '../../../model/wire/provider-data.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type { ContentPart } from '../../../records/history-item.ts'
import type { ReasoningBinder } from '../../anthropic/thinking/bound-thinking.ts'
import {
  decodeContent,
  decodePart,
  decodeReasoning,
  type Marked,
  markedBlocks,
} from '../wire/content.ts'
import { comparableOf } from '../wire/thinking.ts'
import { asJson, extrasOf } from '../wire/wire.ts'

/** What the blocks of one payload are read into. */
export interface Reading {
  readonly builder: HistoryBuilder
  readonly key: ProviderKey
  /** The ids of calls that the provider runs: a result of the user's must not settle one. */
  readonly served: Set<string>
  /** Gives the binding of reasoning; only for a response to a known request. */
  readonly binder?: ReasoningBinder
}

type Role = 'user' | 'assistant'

/** Reads the content of one message. Neighbouring texts and media become one message item. */
export function readContent(content: unknown, role: Role, reading: Reading): void {
  let parts: ContentPart[] = []
  const flush = () => {
    if (parts.length > 0) reading.builder.message(role, parts)
    parts = []
  }
  for (const block of markedBlocks(content)) {
    const bound = reading.binder?.take(comparableOf(block.value))
    const part = decodePart(block, reading.key)
    if (part !== undefined) {
      // A block that was opened and closed without a word says nothing.
      if (part.type !== 'text' || part.text !== '' || part.providerData) parts.push(part)
      continue
    }
    flush()
    readBlock(block, role, reading, bound)
  }
  flush()
}

function readBlock(
  block: Marked,
  role: Role,
  reading: Reading,
  bound: JsonObject | undefined,
): void {
  const { tagged, value, mark } = block
  const { builder } = reading
  if (tagged?.tag === 'toolUse' && readUse(tagged.body, block, reading)) return
  if (tagged?.tag === 'toolResult' && readResult(tagged.body, block, role, reading)) return
  if (tagged?.tag === 'reasoningContent') {
    const reasoning = decodeReasoning(tagged.body)
    if (reasoning !== undefined) {
      const { text, data } = reasoning
      return builder.thought(text, bound === undefined ? data : { ...data, bound })
    }
  }
  builder.raw(tagged === undefined ? value : { [tagged.tag]: asJson(tagged.body) }, role)
  if (mark !== undefined) builder.raw({ cachePoint: mark }, role)
}

/** The provider runs it itself; its result stands in the same message. */
export const isServerUse = (use: JsonObject | undefined) =>
  asText(use?.['type']) === 'server_tool_use'

export const UNKNOWN = 'unknown_tool'
/** Servers that leave ids out give results in the order of their calls. */
const IN_ORDER = 'type:toolUse'

function readUse(body: JsonValue, { mark }: Marked, { builder, served }: Reading): boolean {
  const use = asObject(body)
  if (use === undefined) return false
  const facts = {
    type: 'toolUse',
    tool: asText(use['name']) || UNKNOWN,
    args: use['input'],
    callId: asText(use['toolUseId']),
    pairKeys: [IN_ORDER],
  }
  if (isServerUse(use)) {
    if (facts.callId !== undefined) served.add(facts.callId)
    builder.call({ ...facts, executedBy: 'provider', raw: { toolUse: asJson(use) } })
  } else {
    const extras = extrasOf(use, 'name', 'input', 'toolUseId')
    const data = { ...(extras && { extras }), ...(mark && { cachePoint: mark }) }
    builder.call({
      ...facts,
      executedBy: 'runner',
      ...(Object.keys(data).length > 0 && { data: asJson(data) }),
    })
  }
  return true
}

function readResult(
  body: JsonValue,
  { mark }: Marked,
  role: Role,
  { builder, key, served }: Reading,
): boolean {
  const result = asObject(body)
  if (result === undefined) return false
  const isError = asText(result['status']) === 'error'
  const facts = {
    type: 'toolResult',
    tool: UNKNOWN,
    callId: asText(result['toolUseId']),
    pairKeys: [IN_ORDER],
    isError,
    parts: decodeContent(result['content'], key),
  }
  // Results of the provider's tools say of which kind they are.
  const isServed = result['type'] !== undefined || served.has(facts.callId ?? '')
  if (role === 'assistant' && isServed) {
    builder.result({ ...facts, executedBy: 'provider', raw: { toolResult: asJson(result) } })
    return true
  }
  const named = ['toolUseId', 'content', ...(isError ? ['status'] : [])]
  const extras = extrasOf(result, ...named)
  const data = { ...(extras && { extras }), ...(mark && { cachePoint: mark }) }
  builder.endResponse()
  builder.result({
    ...facts,
    executedBy: 'runner',
    ...(Object.keys(data).length > 0 && { data: asJson(data) }),
  })
  return true
}
