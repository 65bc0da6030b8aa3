import { foreignForm } from '../../model/wire/foreign-text.ts'
import type {
  CallItem,
  HistoryItem,
  OpenCallItem,
  ProviderGate,
} from '../../records/history-item.ts'
import type { Message } from '../../records/message.ts'
import type { Thought } from '../../records/thought.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { GateClosing } from '../../store/entry.ts'

/** One place in the history. */
export type Place = Placed &
  (
    | { readonly is: 'item'; item: HistoryItem }
    | { readonly is: 'message'; readonly message: Message }
    | {
        readonly is: 'call'
        readonly item: CallItem
        record?: ToolCall
        note?: string
        /** The id under which it runs in the background. */
        startedAs?: string
      }
    /** The result of a background call or of an undo. */
    | { readonly is: 'result'; readonly record: ToolCall }
  )

/** Where a rendered place comes from. */
export interface Origin extends Readonly<Placed> {
  /** Whether it is a message of the user. */
  readonly isUser: boolean
}

/** Where a place comes from. */
export interface Placed {
  /** The entry that made it, and the last one that changed it. */
  first: number
  last: number
  /** Which turn it belongs to: a number that grows with each `run`. */
  readonly turn: number
  /** True when a budget took it out of requests. */
  isDropped?: boolean
}

/** The call of a place. */
export function callOf(place: Place): string | undefined {
  if (place.is === 'message' || place.is === 'result') return undefined
  const { item } = place
  return item.type === 'call' || item.type === 'openCall' ? item.id : undefined
}

export const isUsers = (place: Place) => place.is === 'message' && place.message.role === 'user'

export const isContext = (place: Place | undefined) =>
  place?.is === 'item' && place.item.type === 'message' && place.item.context !== undefined

export const isPartial = (place: Place) => place.is === 'message' && place.message.partial === true

/** The decision that the provider receives; a gate without a decision in time counts as declined. */
export function providerDecision({
  outcome,
  decision,
}: GateClosing): NonNullable<ProviderGate['decision']> {
  const used = outcome === 'consumed' ? decision : undefined
  const approved = used?.verdict === 'approved'
  const reason = used === undefined ? 'Nobody decided in time.' : used.comment
  return { approved, ...(reason !== undefined && { reason }) }
}

/** A stored thought as a history item. */
export function thoughtItem({ content, providerData, response }: Thought): HistoryItem {
  return {
    type: 'thought',
    text: content.text,
    ...(providerData && { providerData }),
    ...(response !== undefined && { response }),
  }
}

/** Settlements of calls that did not start. */
export const UNCHANGED: ReadonlySet<string> = new Set([
  'denied',
  'refused',
  'edited',
  'abandoned',
  'aborted',
])

/** A receipt whose result is not shown: no summary covers one without the other. */
export const NOT_SHOWN = Number.MAX_SAFE_INTEGER

/** Replaces the content of a list that others hold. */
export function replace<T>(list: T[], content: readonly T[]): void {
  list.length = 0
  for (const one of content) list.push(one)
}

/** The provider of a call gets its own form back. Every other provider gets text in envelopes. */
export function withForeign<Call extends CallItem | OpenCallItem>(
  key: Uint8Array,
  call: Call,
): Call {
  if (call.executedBy !== 'provider') return call
  return { ...call, foreign: foreignForm(key, call) }
}
