import { sha256Hex } from '#hash'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { callArguments } from '../../../model/events/call-arguments.ts'
import { ownData, type ProviderKey } from '../../../model/wire/provider-data.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../records/history-item.ts'
import { isCall } from '../wire/server-tools.ts'
import { blocksIn, Prefix } from './prefix.ts'

/** What a thinking block was produced under. It is stored with its thought, as `bound`. */
export interface Bound {
  /** Everything before it, without thinking. */
  readonly prefix: string
  /** The thinking before it in its request, if there was any. */
  readonly after?: string
}

/** Follows the blocks of one response in their order. */
export interface ReasoningBinder {
  /** For thinking, what to store with it, so that a later request can tell whether it still holds. */
  take(block: JsonValue): JsonObject | undefined
}

interface ConversationMessage {
  readonly role: string
  readonly content?: string | readonly object[]
}

/** What a request holds that thinking is bound to. */
interface Conversation {
  readonly messages: readonly ConversationMessage[]
  readonly system?: unknown
  readonly tools?: unknown
}

const isConversation = (body: object): body is Conversation =>
  Array.isArray((body as Partial<Conversation>).messages)

/** A thinking block in a request. */
interface Placed {
  readonly block: object
  readonly id: string
  readonly after: string | undefined
  /** Whether everything before it is what it was. */
  readonly isIntact: boolean
}

/** The thinking of one assistant turn: neighbouring assistant messages count as one. */
type Thinking = Placed[]

interface BoundRequest<Body> {
  readonly body: Body
  /** How many blocks died since the last valid one was produced. */
  readonly dead: number
}

const isThinking = ({ type }: { readonly type?: unknown }): boolean =>
  type === 'thinking' || type === 'redacted_thinking'

/** What the thoughts of a history are bound to, by the ids of their blocks. */
export function boundsOf(items: readonly HistoryItem[], key: ProviderKey): Map<string, Bound> {
  const bounds = new Map<string, Bound>()
  for (const item of items) {
    const data = item.type === 'thought' ? asObject(ownData(item.providerData, key)) : undefined
    const bound = asObject(data?.['bound'])
    const prefix = asText(bound?.['prefix'])
    const after = asText(bound?.['after'])
    if (data === undefined || prefix === undefined) continue
    bounds.set(idOf(data), after === undefined ? { prefix } : { prefix, after })
  }
  return bounds
}

/**
 * The request without thinking that the provider would refuse. A block is valid while everything before it is what it
 * was when it was produced, and so is the thinking that was sent before it, of which only the oldest may be missing.
 */
export function withoutDeadThinking<Body extends Conversation>(
  body: Body,
  bounds: ReadonlyMap<string, Bound>,
): BoundRequest<Body> {
  const { turns, end } = placesOf(body, bounds)
  const last = turns.findLastIndex(isValid)
  const sent: Placed[] = []
  for (let at = last; at !== -1; at = predecessor(turns, at)) sent.unshift(...(turns[at] ?? []))
  const blocks = new Set(sent.map(({ block }) => block))
  const isSent = (block: object) => !isThinking(block) || blocks.has(block)
  const messages = body.messages.map((message) => filtered(message, isSent))
  const kept: Body = { ...body, messages }
  ends.set(kept, { prefix: end, latest: sent.at(-1)?.id })
  return { body: kept, dead: turns.slice(last + 1).flat().length }
}

/** Where a request ends. Reading it again would hash the whole conversation a second time. */
interface End {
  readonly prefix: Prefix
  readonly latest: string | undefined
}
const ends = new WeakMap<object, End>()

/** Gives the binding of the thinking in the response to a request. */
export function binderOf(body: object): ReasoningBinder | undefined {
  const known = ends.get(body)
  if (known !== undefined) return binderAt(known)
  if (!isConversation(body)) return undefined
  const { turns, end } = placesOf(body, new Map())
  const read = { prefix: end, latest: turns.at(-1)?.at(-1)?.id }
  ends.set(body, read)
  return binderAt(read)
}

function placesOf(body: Conversation, bounds: ReadonlyMap<string, Bound>) {
  const end = new Prefix(body)
  const turns: Thinking[] = []
  let turn: Thinking | undefined
  for (const { role, content } of body.messages) {
    if (role !== 'assistant') turn = undefined
    end.startMessage(role)
    for (const block of blocksIn(content as unknown as JsonValue)) {
      if (!isThinking(block)) {
        end.add(block)
        continue
      }
      if (turn === undefined) turns.push((turn = []))
      const id = idOf(block)
      const bound = bounds.get(id)
      turn.push({ block, id, after: bound?.after, isIntact: bound?.prefix === end.digest })
    }
  }
  return { turns, end }
}

/** The wire takes the thinking of a turn whole or not at all. */
const isValid = (turn: Thinking): boolean =>
  turn.every(({ isIntact, after }, at) => isIntact && (at === 0 || after === turn[at - 1]?.id))

/** The place of the previous thinking that was sent; -1 if this is the first, or if that is no longer valid. */
function predecessor(turns: readonly Thinking[], at: number): number {
  const after = turns[at]?.[0]?.after
  if (after === undefined) return -1
  const found = turns.slice(0, at).findLastIndex((turn) => turn.at(-1)?.id === after)
  return isValid(turns[found] ?? []) ? found : -1
}

function filtered<Message extends ConversationMessage>(
  message: Message,
  isSent: (block: object) => boolean,
): Message {
  const { role, content } = message
  if (role !== 'assistant' || typeof content !== 'object' || content.every(isSent)) return message
  return { ...message, content: content.filter(isSent) }
}

/** Follows the blocks of the response to a request that ends here. */
function binderAt({ prefix: end, latest }: End): ReasoningBinder {
  const prefix = end.fork()
  prefix.startMessage('assistant')
  let after = latest
  let isReadable = true
  return {
    take(value) {
      const block = asObject(value)
      if (block === undefined || !isReadable) return undefined
      if (!isThinking(block)) {
        // It is sent back in other words, so what follows in this response has another prefix then.
        isReadable = !isCall(block['type']) || callArguments(block['input']).fault === undefined
        prefix.add(block)
        return undefined
      }
      const bound = { prefix: prefix.digest, ...(after !== undefined && { after }) }
      after = idOf(block)
      return bound
    },
  }
}

/** A block is known by what the provider signed. */
function idOf(block: JsonObject): string {
  const signed = asText(block['type'] === 'redacted_thinking' ? block['data'] : block['signature'])
  return sha256Hex(signed ?? '').slice(0, 32)
}
