import type {
  EasyInputMessage,
  ResponseFunctionToolCall,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import type { JsonObject } from '../../../core/json.ts'
import {
  type EncodeContext,
  type EncodeOptions,
  type Group,
  GroupEncoder,
} from '../../../model/encoder.ts'
import { foreignCallText, partsText } from '../../../model/foreign-text.ts'
import { fitName } from '../../../model/name-projection.ts'
import type { WireEncoder } from '../../../model/wire-adapter.ts'
import { asList, asObject, without } from '../../../model/wire-value.ts'
import type {
  CallItem,
  ContentPart,
  HistoryItem,
  MessageItem,
  OpenCallItem,
} from '../../../records/history-item.ts'
import { encodePart, type InputPart } from './content.ts'
import type { ResponsesDialect } from './dialect.ts'
import { encodeOutput } from './encode-output.ts'
import { SentItems } from './sent-items.ts'
import { strayCall } from './stray-call.ts'
import type { ResponsesPart } from './wire.ts'

const ID_MAX = 64
const takesBack = (id: unknown) => typeof id === 'string' && id !== '' && id.length <= ID_MAX
const IDS = { refused: /[^\x21-\x7e]/g, maxLength: ID_MAX, takesBack }
const NAME_REFUSED = /[^a-zA-Z0-9_-]/g
const NAME_MAX = 128

/** Items that must keep the id under which the provider stores them; the others go without. */
const KEEPS_ID = new Set(['computer_call', 'local_shell_call'])

/** Starts the encoder of `input`. */
export function encoder(
  dialect: ResponsesDialect,
  options: EncodeOptions = {},
): WireEncoder<ResponsesPart> {
  const sent = new SentItems()
  const groups = new GroupEncoder<JsonObject>({
    ...options,
    api: dialect.api,
    ids: IDS,
    encodeGroup: (group, context) => encodeGroup(group, context, dialect, sent),
  })
  let instructions: string | undefined
  return {
    push: (...items) => {
      for (const item of items) {
        const own = item.type === 'message' && asObject(item.providerData?.data)
        if (own && own['instructions'] === true) instructions = partsText(item.parts)
        else groups.push(item)
      }
    },
    part: () => ({ ...(instructions !== undefined && { instructions }), input: groups.entries() }),
  }
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
    const entries = isRunners
      ? item.resultOnly && context.continues
        ? []
        : [encodeCall(item, context, dialect)]
      : encodeItem(item, context, dialect)
    for (const entry of entries) {
      const once = sent.once(entry, item)
      if (once !== undefined) said.push(once)
      else context.leftOut(item.type, 'An item that the request holds already was left out.')
    }
    if (isRunners) outputs.push(...encodeOutput(item, context, dialect.api))
  }
  return [...withFollowers(said), ...outputs]
}

/** A reasoning item is refused without the item that followed it. */
function withFollowers(items: readonly JsonObject[]): readonly JsonObject[] {
  let end = items.length
  while (end > 0 && items[end - 1]?.['type'] === 'reasoning') end--
  return items.slice(0, end)
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

function encodeCall(call: CallItem, context: EncodeContext, dialect: ResponsesDialect): JsonObject {
  const data = asObject(context.own(call.providerData))
  const whole = asObject(data?.['item'])
  const call_id = context.callId(call)
  const { wire, tool, args } = call
  if (whole !== undefined) {
    const item = KEEPS_ID.has(wire.type) ? whole : without(whole, 'id')
    return { ...(dialect.toInput(item) ?? item), call_id }
  }
  const output = asObject(asObject(context.own(call.result?.providerData))?.['item'])
  const stray = call.resultOnly && output !== undefined ? strayCall(output, tool) : undefined
  if (stray !== undefined) return { ...stray, call_id }
  const extras = wire.type === 'function_call' && data ? dialect.toInput(data) : undefined
  return {
    type: 'function_call',
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
  // An answer to a request that the provider holds is no stray: that is how approvals are given.
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
