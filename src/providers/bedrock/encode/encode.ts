import {
  type EncodeContext,
  type EncodeOptions,
  encodeGroups,
  type Group,
} from '../../../model/wire/encode-groups.ts'
import { foreignCallText } from '../../../model/wire/foreign-text.ts'
import { joinNeighbours } from '../../../model/wire/join-neighbours.ts'
import { ownData } from '../../../model/wire/provider-data.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type {
  CallItem,
  HistoryItem,
  MessageItem,
  OpenCallItem,
  ThoughtItem,
} from '../../../records/history-item.ts'
import { documentNames } from '../wire/media.ts'
import {
  API,
  type Block,
  type ConverseMessage,
  type ConversePart,
  ID,
  keyOf,
} from '../wire/wire.ts'
import { callsLast, inOrderOf, withWholeReasoning } from './block-order.ts'
import { encodeRaw, encodeRunnerCall, ServerCalls } from './encode-call.ts'
import { type ContentContext, encodeParts, encodeResult, encodeSystem } from './encode-content.ts'
import { MESSAGES, systemBehindUser, withAllowedEnds } from './message-order.ts'

/** The ids of others are fitted to what every version of the wire takes. */
const IDS = {
  refused: /[^a-zA-Z0-9_-]/g,
  maxLength: 64,
  takesBack: (id: string) => ID.test(id),
}

/** The conversation as `messages`, with its system prompt. Bytes are base64, as on the wire. */
export function encodeHistory(
  items: readonly HistoryItem[],
  options: EncodeOptions = {},
): ConversePart {
  const calls = new ServerCalls(options)
  const nameOf = documentNames()
  // Only at the beginning are they the system prompt; later ones are messages in their place.
  const begin = items.findIndex((item) => !isSystem(item))
  const opening = begin === -1 ? items : items.slice(0, begin)
  const outside: ContentContext = {
    nameOf,
    own: (data) => ownData(data, keyOf(options)),
    leftOut: (item, message) => options.onRepair?.({ kind: 'left-out', item, message }),
  }
  const system = opening.filter(isSystem).flatMap((item) => encodeSystem(item, outside))
  const entries = encodeGroups<ConverseMessage>(items.slice(opening.length), {
    ...options,
    api: API,
    ids: IDS,
    encodeGroup: (group, context) =>
      encodeGroup(group, { ...context, nameOf, last: items.at(-1) }, calls),
  })
  const messages = joinNeighbours(systemBehindUser(entries), MESSAGES)
  return {
    messages: withAllowedEnds(messages, options),
    ...(system.length > 0 && { system }),
  }
}

const isSystem = (item: HistoryItem): item is MessageItem =>
  item.type === 'message' && item.role === 'system'

/** `last` is the last item of the history. */
type Context = EncodeContext & ContentContext & { readonly last: HistoryItem | undefined }

function encodeGroup(group: Group, context: Context, calls: ServerCalls): ConverseMessage[] {
  if (group.kind === 'input') return encodeInput(group.item, context)
  const said: Block[] = []
  const results: (readonly Block[])[] = []
  calls.begin(group.items, group.items.at(-1) === context.last)
  for (const item of group.items) {
    if (item.type === 'call' && item.executedBy === 'runner') {
      if (!(item.resultOnly && context.continues)) said.push(...encodeRunnerCall(item, context))
      results.push(encodeResult(item, context))
    } else {
      said.push(...encodeSaid(item, context, calls))
    }
  }
  const ordered = callsLast(said)
  const thoughts = group.items.filter(({ type }) => type === 'thought').length
  const content = withWholeReasoning(ordered, thoughts)
  const answers = (ordered === said ? results : inOrderOf(ordered, results)).flat()
  return [
    ...(content.length > 0 ? [{ role: 'assistant', content } as const] : []),
    ...(answers.length > 0 ? [{ role: 'user', content: answers } as const] : []),
  ]
}

function encodeInput(item: HistoryItem, context: Context): ConverseMessage[] {
  if (item.type === 'raw') {
    const content = encodeRaw(item, context)
    return content.length > 0 ? [{ role: 'user', content }] : []
  }
  if (item.type !== 'message') return []
  const content = encodeParts(item, context)
  if (content.length > 0) return [{ role: item.role, content }]
  context.leftOut('message', `A message of the ${item.role} says nothing and was left out.`)
  return []
}

function encodeSaid(
  item: Exclude<HistoryItem, { executedBy: 'runner' }> | CallItem,
  context: Context,
  calls: ServerCalls,
): readonly Block[] {
  switch (item.type) {
    case 'message':
      return encodeParts(item, context)
    case 'thought':
      return encodeThought(item, context)
    case 'raw':
      return encodeRaw(item, context, calls)
    default:
      return encodeServerCall(item, context, calls)
  }
}

function encodeThought(item: ThoughtItem, context: Context): readonly Block[] {
  const own = asObject(context.own(item.providerData))
  const redacted = own?.['type'] === 'redacted_thinking' ? asText(own['data']) : undefined
  if (redacted) return [{ reasoningContent: { redactedContent: redacted } }]
  const signature = asText(own?.['signature'])
  if (signature) {
    return [{ reasoningContent: { reasoningText: { text: item.text, signature } } }]
  }
  context.leftOut('thought', 'Reasoning that this provider did not sign was left out.')
  return []
}

/** A call that a provider ran: its own blocks if this provider ran it, otherwise a text about it. */
function encodeServerCall(
  call: CallItem | OpenCallItem,
  context: Context,
  calls: ServerCalls,
): readonly Block[] {
  const blocks = context.rawItems(call)?.map((block) => asObject(block) ?? {})
  if (blocks !== undefined && calls.areSendable(blocks)) return blocks
  if (blocks !== undefined && call.type === 'openCall') calls.reportUnanswered(call)
  return [{ text: foreignCallText(call) }]
}
