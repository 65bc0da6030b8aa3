import {
  type EncodeContext,
  type EncodeOptions,
  type Group,
  GroupEncoder,
} from '../../model/encoder.ts'
import { JoinedEntries } from '../../model/joined-entries.ts'
import { ownData } from '../../model/provider-data.ts'
import type { WireEncoder } from '../../model/wire-adapter.ts'
import { asObject, asText } from '../../model/wire-value.ts'
import type { HistoryItem, MessageItem } from '../../records/history-item.ts'
import { callsLast, inOrderOf, withoutTrailingThought } from './block-order.ts'
import { DanglingCalls } from './dangling.ts'
import { encodeRaw, encodeRunnerCall, encodeServerCall, ServerCalls } from './encode-call.ts'
import { encodeParts, encodeResult } from './encode-content.ts'
import { MESSAGES } from './message-order.ts'
import { CLIENT_ID } from './server-tools.ts'
import {
  API,
  type BlockParam,
  keyOf,
  type MessageParam,
  type MessagesPart,
  type TextParam,
} from './wire.ts'

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

/** Starts the encoder of `messages`. */
export function encoder(options: MessagesEncodeOptions = {}): WireEncoder<MessagesPart> {
  const calls = new ServerCalls(options)
  const joined = new JoinedEntries<MessageParam>(MESSAGES)
  const dangling = new DanglingCalls(calls)
  const groups = new GroupEncoder<MessageParam>({
    ...options,
    api: API,
    ids: IDS,
    encodeGroup: (group, context) => encodeGroup(group, context, calls),
  })
  const system: TextParam[] = []
  let isBegun = false
  let container: Container | undefined
  return {
    push: (...items) => {
      for (const item of items) {
        container = containerOf(item, options) ?? container
        // Only at the beginning is it the system prompt; later it is a message in its place.
        if (!isBegun && item.type === 'message' && item.role === 'system') {
          system.push(...systemTexts(item, options))
        } else {
          isBegun = true
          groups.push(item)
        }
      }
    },
    part: () => {
      const id =
        container === undefined || hasExpired(container, options) ? undefined : container.id
      const changed = joined.update(groups.entries(), groups.final)
      return {
        messages: dangling.close(joined.list, changed, id),
        ...(system.length > 0 && { system: asShorthand(system) }),
        ...(id !== undefined && { container: id }),
      }
    },
  }
}

function encodeGroup(group: Group, context: EncodeContext, calls: ServerCalls): MessageParam[] {
  if (group.kind === 'input') return encodeInput(group.item, context)
  calls.begin(group.items)
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
  const content = withoutTrailingThought(ordered)
  const answers = ordered === said ? results : inOrderOf(ordered, results)
  return [
    ...(content.length > 0 ? [{ role: 'assistant', content } as const] : []),
    ...(answers.length > 0 ? [{ role: 'user', content: answers } as const] : []),
  ]
}

function encodeInput(item: HistoryItem, context: EncodeContext): MessageParam[] {
  if (item.type === 'raw') {
    const content = encodeRaw(item, context)
    return content.length > 0 ? [{ role: 'user', content }] : []
  }
  if (item.type !== 'message') return []
  const content = encodeParts(item, context)
  if (content.length === 0) {
    context.leftOut('message', `A message of the ${item.role} says nothing and was left out.`)
    return []
  }
  if (item.role !== 'system') return [{ role: 'user', content: asShorthand(content) }]
  return [{ role: 'system', content: asShorthand(content as TextParam[]) }]
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

/** A text alone is how people write a message; the wire takes it for a block. */
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

function hasExpired({ expiresAt }: Container, { now }: MessagesEncodeOptions): boolean {
  return now !== undefined && expiresAt <= now()
}
