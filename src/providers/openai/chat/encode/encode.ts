import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionSystemMessageParam,
  ChatCompletionUserMessageParam,
} from 'openai/resources/chat/completions'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import {
  type EncodeContext,
  type EncodeOptions,
  encodeGroups,
  type Group,
} from '../../../../model/wire/encode-groups.ts'
import { foreignCallText, partsText } from '../../../../model/wire/foreign-text.ts'
import { fitName } from '../../../../model/wire/name-projection.ts'
import { asObject, asText } from '../../../../model/wire/wire-value.ts'
import type {
  CallItem,
  ContentPart,
  HistoryItem,
  MessageItem,
} from '../../../../records/history-item.ts'
import { withStandardMedia } from '../../inline-media.ts'
import { API } from '../decode/decode-response.ts'
import { encodePart, textPart, type UserPart } from '../wire/content.ts'
import type { ChatQuirks } from '../wire/quirks.ts'
import type { ChatPart } from '../wire/wire.ts'
import { encodeResults, isLegacy, NAME_REFUSED } from './encode-result.ts'
import { exactIds } from './exact-ids.ts'

const STANDARD_MEMBERS = ['role', 'content', 'name', 'refusal', 'audio']

/** The conversation as `messages`. */
export function encodeHistory(
  items: readonly HistoryItem[],
  quirks: ChatQuirks,
  options: EncodeOptions = {},
): ChatPart {
  const { exactIdLength } = quirks
  const exact = exactIdLength === undefined ? undefined : exactIds(exactIdLength)
  const fitted = (context: EncodeContext): EncodeContext =>
    exact === undefined ? context : { ...context, callId: (call) => exact(context.callId(call)) }
  const messages = encodeGroups<JsonObject>(items, {
    ...options,
    api: API,
    ids: quirks.ids,
    encodeGroup: (group, context) =>
      encodeGroup(group, fitted(context), quirks).map(withStandardMedia),
  })
  return { messages }
}

function encodeGroup(
  group: Group,
  context: EncodeContext,
  quirks: ChatQuirks,
): readonly JsonObject[] {
  if (group.kind === 'input') return encodeInput(group.item, context, quirks)
  const calls = group.items.filter(isRunnerCall)
  const message = encodeAssistant(group.items, calls, context, quirks)
  return [...(message === undefined ? [] : [message]), ...encodeResults(calls, context)]
}

function isRunnerCall(item: HistoryItem): item is CallItem {
  return item.type === 'call' && item.executedBy === 'runner'
}

function encodeInput(
  item: HistoryItem,
  context: EncodeContext,
  quirks: ChatQuirks,
): readonly JsonObject[] {
  if (item.type === 'raw') {
    const value = item.api === API ? asObject(item.value) : undefined
    if (value !== undefined) return [value]
    context.leftOut('raw', `An item of \`${item.api}\` has no form here and was left out.`)
    return []
  }
  return item.type === 'message' ? [encodeMessage(item, context, quirks)] : []
}

function encodeMessage(item: MessageItem, context: EncodeContext, quirks: ChatQuirks): JsonObject {
  const own = ownMessage(item, context)
  if (own !== undefined && isContent(own['content'])) return own
  const { parts } = item
  if (item.role !== 'user') {
    const role = quirks.systemRole as 'system'
    return { role, content: partsText(parts) } satisfies ChatCompletionSystemMessageParam
  }
  const isText = parts.every((part) => part.type === 'text')
  const content = isText ? partsText(parts) : parts.map((part) => inputPart(part, context))
  return { role: 'user', content } satisfies ChatCompletionUserMessageParam
}

function inputPart(part: ContentPart, context: EncodeContext): UserPart {
  const encoded = encodePart(part, API)
  if (encoded !== undefined) return encoded
  context.leftOut('media', `\`${API}\` cannot take this media; it is named in its place.`)
  return textPart(partsText([part]))
}

function ownMessage(item: MessageItem | CallItem, context: EncodeContext): JsonObject | undefined {
  return asObject(asObject(context.own(item.providerData))?.['message'])
}

/** Everything that the model said and asked for in one response, as one message. */
function encodeAssistant(
  items: readonly HistoryItem[],
  calls: readonly CallItem[],
  context: EncodeContext,
  quirks: ChatQuirks,
): JsonObject | undefined {
  const texts: string[] = []
  let members: JsonObject = {}
  for (const item of items) {
    if (item.type === 'message') {
      members = { ...members, ...ownMessage(item, context) }
      texts.push(partsText(item.parts))
    } else if (item.type === 'thought') {
      const own = asObject(asObject(context.own(item.providerData))?.['members'])
      members = { ...members, ...own }
    } else if (item.type === 'raw') {
      context.leftOut('raw', `An item of \`${item.api}\` has no form here and was left out.`)
    } else if (isRunnerCall(item)) {
      members = { ...members, ...ownMessage(item, context) }
    } else {
      texts.push(foreignCallText(item))
    }
  }
  const text = texts.join('\n')
  const [only] = items
  if (items.length === 1 && only?.type === 'raw' && only.api === API) return asObject(only.value)
  // Neither content nor calls: the wire refuses such a message, and it would say nothing.
  if (text === '' && calls.length === 0) return undefined
  const own = sendable(members, quirks)
  const stands = own['refusal'] !== undefined || own['audio'] !== undefined
  const isUnread = texts.length === 0 && Array.isArray(own['content'])
  const isOwnContent = isUnread || (texts.length === 1 && (isContent(own['content']) || stands))
  const said = {
    role: 'assistant',
    content: text === '' ? quirks.emptyContent : text,
  } satisfies ChatCompletionAssistantMessageParam
  return {
    ...own,
    ...said,
    ...(isOwnContent && { content: own['content'] ?? null }),
    ...callMembers(calls, context, quirks),
  }
}

function isContent(content: JsonValue | undefined): boolean {
  return typeof content === 'string' || (Array.isArray(content) && content.length > 0)
}

/** What may go back of a message that this wire sent. Nulls say nothing and some servers refuse them. */
function sendable(members: JsonObject, { echoes }: ChatQuirks): JsonObject {
  const kept: Record<string, JsonValue> = {}
  for (const name of [...STANDARD_MEMBERS, ...echoes]) {
    const value = members[name]
    if (value === undefined || (value === null && name !== 'content')) continue
    if (name !== 'audio') kept[name] = value
    // The provider keeps the sound itself; only its id is taken.
    else if (asText(asObject(value)?.['id'])) kept[name] = { id: asObject(value)?.['id'] ?? null }
  }
  return kept
}

function callMembers(
  calls: readonly CallItem[],
  context: EncodeContext,
  quirks: ChatQuirks,
): JsonObject {
  const [first] = calls
  if (first === undefined) return {}
  if (isLegacy(calls)) return { function_call: askedOf(first, context, quirks) }
  return { tool_calls: calls.map((call) => encodeCall(call, context, quirks)) }
}

function isOwn(wire: CallItem['wire'], type: string): boolean {
  return wire.api === API && wire.type === type
}

function encodeCall(call: CallItem, context: EncodeContext, quirks: ChatQuirks): JsonObject {
  const data = asObject(context.own(call.providerData))
  const extras = asObject(data?.['call'])
  const id = context.callId(call)
  const whole = asObject(data?.['whole'])
  if (whole !== undefined) return { ...whole, id }
  if (isOwn(call.wire, 'custom') && typeof call.args['input'] === 'string') {
    const name = fitName(call.tool, NAME_REFUSED, quirks.maxNameLength)
    const custom = { name, input: call.args['input'] }
    return { id, type: 'custom', custom, ...extras } satisfies ChatCompletionMessageToolCall
  }
  const asked = askedOf(call, context, quirks)
  return {
    id,
    type: 'function',
    function: asked,
    ...extras,
  } satisfies ChatCompletionMessageToolCall
}

function askedOf(call: CallItem, context: EncodeContext, { maxNameLength }: ChatQuirks) {
  const received = asText(asObject(context.own(call.providerData))?.['arguments'])
  const text = JSON.stringify(call.args)
  return {
    name: fitName(call.tool, NAME_REFUSED, maxNameLength),
    arguments: received !== undefined && says(received, text) ? received : text,
  }
}

/**
 * True when the text received still says what the arguments say. Broken text never goes back: several
 * servers parse the arguments of the history and fail on the whole request.
 */
function says(received: string, text: string): boolean {
  try {
    return received === text || JSON.stringify(JSON.parse(received)) === text
  } catch {
    return false
  }
}
