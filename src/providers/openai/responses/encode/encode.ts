import type {
  EasyInputMessage,
  ResponseFunctionToolCall,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import type { JsonObject } from '../../../../core/json/json.ts'
import {
  type EncodeContext,
  type EncodeOptions,
  encodeGroups,
  type Group,
} from '../../../../model/wire/encode-groups.ts'
import { foreignCallText, partsText } from '../../../../model/wire/foreign-text.ts'
import { fitName } from '../../../../model/wire/name-projection.ts'
import { ownData, type ProviderKey } from '../../../../model/wire/provider-data.ts'
import { asList, asObject, asText, without } from '../../../../model/wire/wire-value.ts'
import type {
  CallItem,
  ContentPart,
  HistoryItem,
  MessageItem,
  OpenCallItem,
} from '../../../../records/history-item.ts'
import { withStandardMedia } from '../../inline-media.ts'
import type { ResponsesDialect } from '../decode/dialect.ts'
import { encodePart, type InputPart } from '../wire/content.ts'
import { isStoredReasoning, type ResponsesPart } from '../wire/wire.ts'
import { encodeOutput } from './encode-result.ts'
import { SentItems } from './sent-items.ts'
import { strayCall } from './stray-call.ts'

const ID_MAX = 64
const takesBack = (id: unknown) => typeof id === 'string' && id !== '' && id.length <= ID_MAX
const IDS = { refused: /[^\x21-\x7e]/g, maxLength: ID_MAX, takesBack }
const NAME_REFUSED = /[^a-zA-Z0-9_-]/g
const NAME_MAX = 128

/** Calls that must keep the id under which the provider stores them; other calls keep it only after their reasoning. */
const KEEPS_ID = new Set(['computer_call', 'local_shell_call'])

/** The conversation as `input`, with the instructions that it brought along. */
export function encodeHistory(
  items: readonly HistoryItem[],
  dialect: ResponsesDialect,
  options: EncodeOptions = {},
): ResponsesPart {
  const sent = new SentItems()
  const input = encodeGroups<JsonObject>(
    items.filter((item) => !isInstructions(item)),
    {
      ...options,
      api: dialect.api,
      ids: IDS,
      mayWait: (call) => isAsync(call, { ...options, api: dialect.api }),
      encodeGroup: (group, context) => encodeGroup(group, context, dialect, sent),
    },
  )
  const told = items.findLast(isInstructions)
  return { ...(told !== undefined && { instructions: partsText(told.parts) }), input }
}

/** True for a call that the provider does not wait for, and that goes back to it saying so. */
function isAsync({ providerData }: CallItem, key: ProviderKey): boolean {
  const data = asObject(ownData(providerData, key))
  return (asObject(data?.['item']) ?? data)?.['async'] === true
}

/** The `instructions` of an earlier request, which stood outside its `input`. */
function isInstructions(item: HistoryItem): item is MessageItem {
  return item.type === 'message' && asObject(item.providerData?.data)?.['instructions'] === true
}

function encodeGroup(
  group: Group,
  context: EncodeContext,
  dialect: ResponsesDialect,
  sent: SentItems,
): readonly JsonObject[] {
  const said: JsonObject[] = []
  const outputs: JsonObject[] = []
  for (const item of group.kind === 'input' ? [group.item] : group.items) {
    const isRunners = item.type === 'call' && item.executedBy === 'runner'
    const isAlone = isRunners && item.resultOnly === true
    // What the provider stores, or a reference to it, stands for a call that is not here.
    const isReferred =
      isAlone && !context.continues && !context.isLate(item) && sent.takeReference()
    const isLate = isRunners && context.isLate(item)
    const isHeld = isReferred || isLate || (isAlone && context.continues)
    const isReasoned = said.some(isStoredReasoning)
    const entries = isRunners
      ? isHeld
        ? []
        : [encodeCall(item, context, dialect, isReasoned)]
      : encodeItem(item, context, dialect)
    for (const entry of entries) {
      const once = sent.once(entry, item)
      if (once !== undefined) said.push(once)
      else context.leftOut(item.type, 'An item that the request holds already was left out.')
    }
    if (isRunners && !context.isWaiting(item)) {
      outputs.push(...encodeOutput(item, context, dialect.api, isReferred || isLate))
    }
  }
  return [...withFollowers(said), ...outputs].map(withStandardMedia)
}

/**
 * A reasoning item is refused without the item that followed it. The provider knows that one by its id, unless the
 * reasoning itself is in the request. Where reasoning is left out, what it belonged to must not be looked up.
 */
function withFollowers(items: readonly JsonObject[]): readonly JsonObject[] {
  const kept: JsonObject[] = []
  for (const item of items.toReversed()) {
    const next = kept.at(-1)
    const hasId = asText(next?.['id']) !== undefined
    const isFollowed = next !== undefined && (!needsFollowerId(item) || hasId)
    const isReasoning = item['type'] === 'reasoning' || isStoredReasoning(item)
    if (!isReasoning || isFollowed) kept.push(item)
  }
  kept.reverse()
  if (kept.length === items.length) return kept
  return kept.map((item) => (KEEPS_ID.has(asText(item['type']) ?? '') ? item : withoutCallId(item)))
}

/** Reasoning that the provider stores: neither it nor its follower is known by anything but the id. */
export function needsFollowerId(reasoning: JsonObject): boolean {
  return isStoredReasoning(reasoning) && !asText(reasoning['encrypted_content'])
}

function withoutCallId(item: JsonObject): JsonObject {
  return item['call_id'] === undefined ? item : without(item, 'id')
}

function encodeItem(
  item: HistoryItem,
  context: EncodeContext,
  dialect: ResponsesDialect,
): readonly JsonObject[] {
  switch (item.type) {
    case 'message':
      return encodeMessage(item, context, dialect)
    case 'thought': {
      const own = asObject(asObject(context.own(item.providerData))?.['item'])
      if (own === undefined) return []
      const sendable = dialect.toInput(own)
      return sendable === undefined ? [] : [sendable]
    }
    case 'raw':
      return encodeRaw(item, context, dialect)
    default:
      return encodeProviderCall(item, context, dialect)
  }
}

function encodeRaw(
  item: Extract<HistoryItem, { type: 'raw' }>,
  context: EncodeContext,
  dialect: ResponsesDialect,
): readonly JsonObject[] {
  const value = item.api === dialect.api ? asObject(item.value) : undefined
  const sendable = value === undefined ? undefined : dialect.toInput(value)
  if (sendable !== undefined && arePaired([sendable])) return [sendable]
  context.leftOut('raw', `An item of \`${item.api}\` has no form here and was left out.`)
  return []
}

function encodeMessage(
  item: MessageItem,
  context: EncodeContext,
  dialect: ResponsesDialect,
): readonly JsonObject[] {
  const own = asObject(asObject(context.own(item.providerData))?.['item'])
  if (own !== undefined) return [dialect.toInput(own) ?? own]
  const { role, parts } = item
  const [first] = parts
  if (first === undefined) return []
  if (first.type === 'text' && parts.length === 1) {
    return [{ type: 'message', role, content: first.text } satisfies EasyInputMessage]
  }
  // The assistant cannot send media as input: what it made earlier is named.
  if (role === 'assistant') return [{ type: 'message', role, content: partsText(parts) }]
  const content = parts.map((part) => inputPart(part, context, dialect))
  return [{ type: 'message', role, content } satisfies EasyInputMessage]
}

function inputPart(
  part: ContentPart,
  context: EncodeContext,
  { api }: ResponsesDialect,
): InputPart {
  const encoded = encodePart(part, api)
  if (encoded !== undefined) return encoded
  context.leftOut('media', `\`${api}\` cannot take this media; it is named in its place.`)
  return { type: 'input_text', text: partsText([part]) }
}

function encodeCall(
  call: CallItem,
  context: EncodeContext,
  dialect: ResponsesDialect,
  isReasoned: boolean,
): JsonObject {
  const data = asObject(context.own(call.providerData))
  const whole = asObject(data?.['item'])
  const call_id = context.callId(call)
  const { wire, tool, args } = call
  if (whole !== undefined) {
    const item = isReasoned || KEEPS_ID.has(wire.type) ? whole : without(whole, 'id')
    return { ...(dialect.toInput(item) ?? item), call_id }
  }
  const output = asObject(asObject(context.own(call.result?.providerData))?.['item'])
  const stray = call.resultOnly && output !== undefined ? strayCall(output, tool) : undefined
  if (stray !== undefined) return { ...stray, call_id }
  const extras = wire.type === 'function_call' && data ? dialect.toInput(data) : undefined
  const id = isReasoned && extras !== undefined ? wire.itemId : undefined
  return {
    type: 'function_call',
    // The provider refuses an id that does not begin so.
    ...(id?.startsWith('fc') && { id }),
    call_id,
    name: fitName(tool, NAME_REFUSED, NAME_MAX),
    arguments: JSON.stringify(args),
    ...extras,
  } satisfies ResponseFunctionToolCall
}

function encodeProviderCall(
  call: CallItem | OpenCallItem,
  context: EncodeContext,
  dialect: ResponsesDialect,
): readonly JsonObject[] {
  // An approval answers a request that the provider holds, so it may come without its call.
  const isAnswer = call.wire.type === 'mcp_approval_response'
  const kept = asObject(context.own(call.providerData))?.['items']
  const raw = isAnswer ? asList(kept) : context.rawItems(call)
  const sendable = raw
    ?.map((item) => dialect.toInput(asObject(item) ?? {}))
    .filter((item) => item !== undefined)
  const decision = call.type === 'openCall' ? call.gate?.decision : undefined
  if (sendable === undefined || sendable.length === 0 || !arePaired(sendable)) {
    return [{ type: 'message', role: 'assistant', content: foreignCallText(call) }]
  }
  if (decision === undefined) return sendable
  const { approved: approve, reason } = decision
  const answer = {
    type: 'mcp_approval_response',
    approval_request_id: call.wire.itemId ?? call.id,
    approve,
    ...(reason !== undefined && { reason }),
  } satisfies ResponseInputItem.McpApprovalResponse
  // A stored response holds the request already; sending it again is a duplicate.
  return context.continues ? [answer] : [...sendable, answer]
}

/** False for a call and an output that the provider could not tell to belong together. */
function arePaired(items: readonly JsonObject[]): boolean {
  const [first, ...others] = items.map((item) => item['call_id'] ?? null)
  return (first === null || takesBack(first)) && others.every((id) => id === first)
}
