import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import {
  type EncodeContext,
  type EncodeOptions,
  encodeGroups,
  type Group,
} from '../../../model/wire/encode-groups.ts'
import { joinNeighbours } from '../../../model/wire/join-neighbours.ts'
import { ownData } from '../../../model/wire/provider-data.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import type { HistoryItem, MessageItem } from '../../../records/history-item.ts'
import { CLIENT_ID } from '../wire/server-tools.ts'
import {
  API,
  type BlockParam,
  keyOf,
  type MessageParam,
  type MessagesPart,
  type TextParam,
} from '../wire/wire.ts'
import { callsLast, inOrderOf, withWholeThinking } from './block-order.ts'
import { mendDangling } from './dangling.ts'
import { encodeRaw, encodeRunnerCall, encodeServerCall, ServerCalls } from './encode-call.ts'
import { encodeParts, encodeResult } from './encode-content.ts'
import { MESSAGES } from './message-order.ts'

type ToolResult = ReturnType<typeof encodeResult>

// Servers that only speak this protocol issue ids of any form; the next server may be stricter.
const IDS = {
  refused: /[^a-zA-Z0-9_-]/g,
  maxLength: 64,
  takesBack: (id: string) => CLIENT_ID.test(id),
}

export interface MessagesEncodeOptions extends EncodeOptions {
  /** Tells the time, so that a container that has expired is not asked for. */
  now?(): number
}

/** The conversation as `messages`, with its system prompt and its container. */
export function encodeHistory(
  items: readonly HistoryItem[],
  options: MessagesEncodeOptions = {},
): MessagesPart {
  const calls = new ServerCalls(options)
  // Only at the beginning are they the system prompt; later ones are messages in their place.
  const begin = items.findIndex((item) => !isSystem(item))
  const opening = begin === -1 ? items : items.slice(0, begin)
  const system = opening.filter(isSystem).flatMap((item) => systemTexts(item, options))
  const entries = encodeGroups<MessageParam>(items.slice(opening.length), {
    ...options,
    api: API,
    ids: IDS,
    encodeGroup: (group, context) => encodeGroup(group, context, calls),
  })
  const container = latestContainer(items, options)
  return {
    messages: mendDangling(joinNeighbours(entries, MESSAGES), calls, container),
    ...(system.length > 0 && { system: asShorthand(system) }),
    ...(container !== undefined && { container }),
  }
}

/** A message of the operator that may stand in the system prompt: one with more than texts has its place. */
const isSystem = (item: HistoryItem): item is MessageItem =>
  item.type === 'message' &&
  item.role === 'system' &&
  asObject(item.providerData?.data)?.['message'] === undefined

function encodeGroup(group: Group, context: EncodeContext, calls: ServerCalls): MessageParam[] {
  if (group.kind === 'input') return encodeInput(group.item, context)
  const said: BlockParam[] = []
  const results: ToolResult[] = []
  for (const item of group.items) {
    if (item.type === 'call' && item.executedBy === 'runner') {
      if (!(item.resultOnly && context.continues)) {
        said.push(encodeRunnerCall(item, context, calls))
      }
      results.push(encodeResult(item, context))
    } else {
      said.push(...encodeResponseItem(item, context, calls))
    }
  }
  const ordered = callsLast(said)
  const thoughts = group.items.filter(({ type }) => type === 'thought').length
  const content = withWholeThinking(ordered, thoughts)
  const answers = ordered === said ? results : inOrderOf(ordered, results)
  return [
    ...(content.length > 0 ? [{ role: 'assistant', content } as const] : []),
    ...(answers.length > 0 ? [{ role: 'user', content: answers } as const] : []),
  ]
}

function encodeInput(item: HistoryItem, context: EncodeContext): MessageParam[] {
  if (item.type === 'raw') {
    const message = ownMessage(item.api === API ? item.value : undefined)
    if (message !== undefined) return [message]
    const content = encodeRaw(item, context)
    return content.length > 0 ? [{ role: 'user', content }] : []
  }
  if (item.type !== 'message') return []
  const own = ownMessage(asObject(context.own(item.providerData))?.['message'])
  if (own !== undefined) return [own]
  const content = encodeParts(item, context)
  if (content.length === 0) {
    context.leftOut('message', `A message of the ${item.role} says nothing and was left out.`)
    return []
  }
  if (item.role !== 'system') return [{ role: 'user', content: asShorthand(content) }]
  return [{ role: 'system', content: asShorthand(content as TextParam[]) }]
}

/** A whole message that goes back as it came, unless the provider refuses it for having nothing in it. */
function ownMessage(value: JsonValue | undefined): MessageParam | undefined {
  const message = asObject(value)
  const role = asText(message?.['role'])
  if (message === undefined || !role) return undefined
  const isRefused = role === 'system' && saysNothing(message)
  return isRefused ? undefined : (message as unknown as MessageParam)
}

/** True for a message of the operator with a blank text, or without content and settings. */
function saysNothing({ content, output_config: settings }: JsonObject): boolean {
  if (typeof content === 'string') return content.trim() === ''
  const blocks = asList(content).map((block) => asObject(block) ?? {})
  const isBlank = ({ type, text }: JsonObject) => type === 'text' && !asText(text)?.trim()
  if (blocks.length > 0) return blocks.some(isBlank)
  return Object.keys(asObject(settings) ?? {}).length === 0
}

function encodeResponseItem(
  item: HistoryItem,
  context: EncodeContext,
  calls: ServerCalls,
): readonly BlockParam[] {
  switch (item.type) {
    case 'message':
      return encodeParts(item, context)
    case 'thought': {
      const own = asObject(context.own(item.providerData))
      const data = own?.['type'] === 'redacted_thinking' ? asText(own['data']) : undefined
      if (data) return [{ type: 'redacted_thinking', data }]
      const signature = asText(own?.['signature'])
      if (signature) return [{ type: 'thinking', thinking: item.text, signature }]
      context.leftOut('thought', 'Reasoning that this provider did not sign was left out.')
      return []
    }
    case 'raw':
      return encodeRaw(item, context, calls)
    default:
      return encodeServerCall(item, context, calls)
  }
}

/** Writes a single text block as a string, which means the same on the wire. */
function asShorthand<Param extends BlockParam>(content: Param[]): string | Param[] {
  const [first] = content
  const isPlain = content.length === 1 && first?.type === 'text' && Object.keys(first).length === 2
  return isPlain ? first.text : content
}

function systemTexts(item: MessageItem, options: EncodeOptions): TextParam[] {
  return item.parts.flatMap((part) => {
    if (part.type !== 'text' || part.text.trim() === '') return []
    const own = asObject(ownData(part.providerData, keyOf(options)))
    return [{ type: 'text', text: part.text, ...(own?.['type'] === undefined && own) }]
  })
}

/** The container of the latest response, unless it has expired. */
function latestContainer(
  items: readonly HistoryItem[],
  options: MessagesEncodeOptions,
): string | undefined {
  const container = items.flatMap((item) => containerOf(item, options) ?? []).at(-1)
  if (container === undefined) return undefined
  const isExpired = options.now !== undefined && container.expiresAt <= options.now()
  return isExpired ? undefined : container.id
}

interface Container {
  readonly id: string
  readonly expiresAt: number
}

function containerOf(item: HistoryItem, options: EncodeOptions): Container | undefined {
  if (item.type === 'raw' || item.providerData === undefined) return undefined
  const data = asObject(ownData(item.providerData, keyOf(options)))
  const container = asObject(data?.['container'])
  const id = asText(container?.['id'])
  if (!id) return undefined
  return { id, expiresAt: Date.parse(asText(container?.['expires_at']) ?? '') }
}
