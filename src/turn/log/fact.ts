import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import { checksum } from '../../core/checksum.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { TrustTier } from '../../core/trust.ts'
import type { WireReference } from '../../core/wire-reference.ts'
import type { HistoryItem, MessageItem } from '../../records/history-item.ts'
import { Message } from '../../records/message.ts'
import { Thought } from '../../records/thought.ts'
import { ToolCall } from '../../records/tool-call.ts'
import {
  BACKGROUND_RESULT,
  CALL_NOTE,
  type Entry,
  type GateClosing,
  HAND_OVER_NOTE,
  type Intent,
  type ModelCall,
  type NewEntry,
  type Note,
  type Rewind,
  type Summary,
  TAINT,
  type TurnEnd,
  type TurnStart,
} from '../../store/entry.ts'
import type { GateRequest } from '../../store/gate.ts'
import type { AskedCall } from './call-state.ts'

/** One thing that happened: a turn commits facts to the log, and reads them back from it. */
export type Fact =
  | { readonly kind: 'turn-start'; readonly start: TurnStart }
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'thought'; readonly thought: Thought }
  /** A call that the runner has to act on. */
  | { readonly kind: 'call'; readonly call: AskedCall }
  /** Anything else in a response: a provider's own call, or an item that no record can hold. */
  | {
      readonly kind: 'item'
      readonly id: string
      readonly item: HistoryItem
      /** When a provider's call was announced, in epoch milliseconds. */
      readonly askedAt?: number
      /** The paths of it that were not stored. */
      readonly redacted?: readonly string[]
      /** The id of the `toolInput` events of a provider's call. */
      readonly inputId?: string
      /** The open call of an earlier response that this one finishes. */
      readonly settles?: string
    }
  | { readonly kind: 'gate-opened'; readonly gate: GateRequest }
  | { readonly kind: 'gate-closed'; readonly closing: GateClosing }
  | { readonly kind: 'intent'; readonly intent: Intent; readonly stored?: Stored }
  | { readonly kind: 'settlement'; readonly record: ToolCall }
  | { readonly kind: 'model-call'; readonly modelCall: ModelCall }
  | { readonly kind: 'summary'; readonly summary: Summary }
  | { readonly kind: 'rewind'; readonly rewind: Rewind }
  | { readonly kind: 'note'; readonly note: Note }
  | { readonly kind: 'turn-end'; readonly end: TurnEnd }

/** When an entry was stored, and which paths were redacted. */
type Stored = Pick<Entry, 'time' | 'redacted'>

/** The origin of calls that come from an executor, not from a provider. */
export const OWN_WIRE: WireReference = Object.freeze({
  provider: 'bobbin',
  api: 'executor',
  type: 'call',
  origin: 'synthetic',
})

/** The entry that makes a fact durable. */
export function entryOf(fact: Fact, turnId: string): NewEntry {
  switch (fact.kind) {
    case 'turn-start':
      return { kind: 'turn-start', turnId, data: Object.freeze(fact.start) }
    case 'message':
      return { kind: 'message', turnId, data: asData(fact.message) }
    case 'thought':
      return { kind: 'thought', turnId, data: fact.thought.toJSON() }
    case 'call':
      return { kind: 'history-item', turnId, data: itemData(fact.call.item, fact.call) }
    case 'item':
      return { kind: 'history-item', turnId, data: itemData({ id: fact.id, ...fact.item }, fact) }
    case 'gate-opened':
      return { kind: 'gate-opened', turnId, data: fact.gate }
    case 'gate-closed': {
      const { id, outcome, late } = fact.closing
      return { kind: 'gate-closed', turnId, data: { id, outcome, ...(late && { late }) } }
    }
    case 'intent':
      return { kind: 'intent', turnId, data: Object.freeze(fact.intent) }
    case 'settlement':
      return { kind: 'settlement', turnId, data: asData(fact.record) }
    case 'model-call':
      return { kind: 'model-call', turnId, data: fact.modelCall }
    case 'summary':
      return { kind: 'summary', turnId, data: fact.summary }
    case 'rewind':
      return { kind: 'rewind', turnId, data: fact.rewind }
    case 'note':
      return { kind: 'note', turnId, data: fact.note }
    default:
      return { kind: 'turn-end', turnId, data: Object.freeze(fact.end) }
  }
}

const itemData = (
  item: HistoryItem & { readonly id: string },
  { askedAt, inputId, settles }: ItemOrigin,
) =>
  Object.freeze({
    ...(askedAt !== undefined && { createdAt: new Date(askedAt).toISOString() }),
    ...(inputId !== undefined && { inputId }),
    ...(settles !== undefined && { settles }),
    ...item,
  })

/** What an entry says about an item beside the item. */
interface ItemOrigin {
  readonly askedAt?: number
  readonly inputId?: string
  readonly settles?: string
}

/** A store writes a record out through its `toJSON`. */
const asData = (record: Message | ToolCall) => record as unknown as JsonObject

/** The fact that an entry holds. */
export function factOf(entry: Entry, context: RestoreContext): Fact {
  const { kind, data } = entry
  switch (kind) {
    case 'turn-start':
      return { kind, start: data }
    case 'message':
      return { kind, message: Message.fromJSON(data, context) }
    case 'thought':
      return { kind, thought: Thought.fromJSON(data) }
    case 'history-item':
      return storedItem(entry)
    case 'gate-opened':
      return { kind, gate: data }
    case 'gate-closed':
      return { kind, closing: data }
    case 'intent':
      return { kind, intent: data, stored: entry }
    case 'settlement':
      return { kind, record: ToolCall.fromJSON(data, context) }
    case 'model-call':
      return { kind, modelCall: data }
    case 'summary':
      return { kind, summary: data }
    case 'rewind':
      return { kind, rewind: data }
    case 'note':
      return { kind, note: data }
    default:
      return { kind, end: data }
  }
}

function storedItem({ data, time, redacted }: Entry & { kind: 'history-item' }): Fact {
  const { id, createdAt = '', inputId: _, settles: __, ...rest } = data
  const item = rest as HistoryItem
  // The store's clock may differ from the runner's. It is all that earlier versions and redacted entries have.
  const told = Date.parse(createdAt)
  const askedAt = Number.isNaN(told) ? time : told
  if (item.type !== 'call' || item.executedBy !== 'runner')
    return { kind: 'item', id, item, askedAt, ...(redacted && { redacted }) }
  const { tool, args, rawArgs } = item
  const call = {
    item: { ...item, id },
    // Nearly every call of a log is settled, and its record has the checksum.
    get checksum() {
      return checksum(tool, args)
    },
    askedAt,
    ...(rawArgs !== undefined && { rawArgs }),
    ...(redacted && { redacted }),
  }
  return { kind: 'call', call }
}

interface ItemFacts {
  readonly id: string
  readonly at: number
}

/** The fact for an item that is not a call: a record if it can hold everything, else the item verbatim. */
export function itemFact(item: HistoryItem, { id, at }: ItemFacts): Fact {
  const origin = {
    id,
    createdAt: at,
    ...('providerData' in item && item.providerData && { providerData: item.providerData }),
    ...(item.response !== undefined && { response: item.response }),
  }
  if (item.type === 'thought') {
    return { kind: 'thought', thought: new Thought({ ...origin, content: item.text }) }
  }
  const text = item.type === 'message' ? plainText(item) : undefined
  if (item.type === 'message' && item.role !== 'system' && text !== undefined) {
    return { kind: 'message', message: new Message({ ...origin, role: item.role, content: text }) }
  }
  return { kind: 'item', id, item }
}

/** The text of a message that has a single text part. */
function plainText({ parts }: MessageItem): string | undefined {
  const [part] = parts
  if (parts.length !== 1 || part?.type !== 'text' || part.providerData !== undefined)
    return undefined
  return part.text
}

const note = (
  code: string,
  message: string,
  data?: NonNullable<Note['data']>,
  level: Note['level'] = 'info',
): Fact => ({ kind: 'note', note: { level, code, message, ...(data !== undefined && { data }) } })

export const NO_ANSWER = 'NO_ANSWER'
const IN_DOUBT_NOTE = 'IN_DOUBT'

/** A note that the model reads with a result; stored, so that it reads the same after a restart. */
export const callNote = (toolCallId: string, message: string): Fact =>
  note(CALL_NOTE, message, { toolCallId })

/** Says that the result of a background call enters the history here. */
export const backgroundNote = ({ id, tool }: Pick<ToolCall, 'id' | 'tool'>): Fact =>
  note(BACKGROUND_RESULT, `The background call \`${id}\` of \`${tool}\` has ended.`, {
    toolCallId: id,
  })

/** The call whose result a note brings into the history. */
export function backgroundResultIn({ code, data }: Note): string | undefined {
  if (code !== BACKGROUND_RESULT) return undefined
  return ((data ?? {}) as { readonly toolCallId?: string }).toolCallId
}

/** Says which agent is active from here on. */
export const handOverNote = ({ id }: Pick<ToolCall, 'id'>, agent: string): Fact =>
  note(HAND_OVER_NOTE, `The conversation was handed over to \`${agent}\`.`, {
    agent,
    toolCallId: id,
  })

/** The agent that a note makes active. */
export function agentIn({ code, data }: Note): string | undefined {
  if (code !== HAND_OVER_NOTE) return undefined
  const { agent } = (data ?? {}) as { readonly agent?: unknown }
  return typeof agent === 'string' ? agent : undefined
}

/** Records the trust of content that is in no record, and that may influence everything after it. */
export const taintNote = (trust: TrustTier): Fact =>
  note(TAINT, `The model was shown ${trust} content that is in no record.`, { trust })

/** Tells operators of a call whose effect is unknown. */
export function doubtNote({ id, tool }: Pick<ToolCall, 'id' | 'tool'>): Fact {
  const message = `The call \`${id}\` of \`${tool}\` started and did not report. It is unknown whether it took effect.`
  return note(IN_DOUBT_NOTE, message, { toolCallId: id }, 'warning')
}

export const isDoubt = (fact: Fact): fact is Fact & { readonly kind: 'note' } =>
  fact.kind === 'note' && fact.note.code === IN_DOUBT_NOTE

/** Marks a response without calls that is not a whole answer: it paused, or was cut. */
export const noAnswerNote = (finish: string): Fact =>
  note(NO_ANSWER, `The response ended without calls and without a whole answer (${finish}).`)
