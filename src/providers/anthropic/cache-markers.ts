import type Anthropic from '@anthropic-ai/sdk'
import { asList, asObject, asText } from '../../model/wire/wire-value.ts'
import type { BlockParam } from './wire/wire.ts'

type Params = Anthropic.Beta.MessageCreateParams
type Message = Params['messages'][number]
type UserMessage = Extract<Message, { readonly role: 'assistant' | 'user' }>

/** How many blocks of a request may have a marker. */
const MAX_MARKERS = 4
const MARKER = { type: 'ephemeral' } as const
/** What a user message may hold and a marker may stand on. */
const MARKABLE = ['document', 'image', 'text', 'tool_result']

/**
 * The request with markers up to which the provider caches it: after the tools, after the system prompt, and after the
 * last two user messages. The last one is where the next request finds this one. The one before is where this request
 * finds the last: the provider looks for it at most 20 blocks before a marker, and calls side by side bring more.
 */
export function withCacheMarkers(body: Params): Params {
  const { tools = [], system, messages, cache_control } = body
  const told = typeof system === 'string' ? [{ type: 'text', text: system } as const] : system
  // Keep markers that the application sets: markers of different lifetimes have rules about their order.
  if (cache_control || markersIn([tools, told ?? []]).length > 0) return body
  const theirs = markersIn(messages.map(({ content }) => content))
  if (theirs.some((marker) => asObject(marker)?.['ttl'] !== undefined)) return body
  let free = MAX_MARKERS - theirs.length
  const isFree = () => free-- > 0
  const ends = userEnds(messages)
  const marked = [...messages]
  const mark = (end: End | undefined) => {
    const { message, at } = end ?? {}
    if (message === undefined || at === undefined || !isFree()) return
    marked[message] = withMarkerAt(messages[message] as UserMessage, at)
  }
  mark(ends[0])
  const end = told?.findLastIndex(isMarkable) ?? -1
  const isTold = told !== undefined && end !== -1 && isFree()
  mark(ends[1])
  // A tool that is not loaded yet is not part of the prompt.
  const last = tools.findLastIndex((tool) => !('defer_loading' in tool && tool.defer_loading))
  const hasTools = last !== -1 && isFree()
  return {
    ...body,
    ...(hasTools && { tools: withMarker(tools, last) }),
    ...(isTold && { system: withMarker(told, end) }),
    messages: marked,
  }
}

/** The place of a block. */
interface End {
  readonly message: number
  readonly at: number
}

/** The ends of the last two user messages that can have a marker, the later one first. */
function userEnds(messages: readonly Message[]): readonly End[] {
  const ends: End[] = []
  for (let message = messages.length - 1; message >= 0 && ends.length < 2; message--) {
    const { role, content } = messages[message] as UserMessage
    if (role !== 'user') continue
    const at = typeof content === 'string' ? 0 : content.findLastIndex(isMarkable)
    if (at !== -1) ends.push({ message, at })
  }
  return ends
}

function isMarkable(block: BlockParam): boolean {
  const isBlank = block.type === 'text' && !asText(block.text)?.trim()
  return MARKABLE.includes(block.type) && !isBlank && !('cache_control' in block)
}

function withMarkerAt(message: UserMessage, at: number): UserMessage {
  const { content } = message
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content
  return { ...message, content: withMarker(blocks, at) }
}

const withMarker = <T extends object>(list: readonly T[], place: number): T[] =>
  list.map((member, at) => (at === place ? { ...member, cache_control: MARKER } : member))

/** The markers on the blocks of these lists, and on what results hold. */
function markersIn(lists: readonly unknown[]): readonly unknown[] {
  return lists.flatMap((list) =>
    asList(list as never).flatMap((value) => {
      const block = asObject(value)
      const own = block?.['cache_control']
      const inside = block?.['type'] === 'tool_result' ? markersIn([block['content']]) : []
      return own ? [own, ...inside] : inside
    }),
  )
}
