import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import { checksum } from '../../core/checksum.ts'
import { utcTime } from '../../core/fields.ts'
import type { CallItem, HistoryItem, OpenCallItem } from '../../records/history-item.ts'
import { Message } from '../../records/message.ts'
import { resultText } from '../../records/result-text.ts'
import { spokenText } from '../../records/spoken-text.ts'
import { Thought } from '../../records/thought.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type {
  EntryData,
  GateClosing,
  Intent,
  NewEntry,
  Note,
  TurnEnd,
  TurnStart,
} from '../entry.ts'
import type { Gate } from '../gate.ts'
import { openedGate } from '../rows/gate-row.ts'
import type { FeedContent, FeedToolCall } from './feed-event.ts'

/** What the event of an entry needs beside the entry. */
export interface ContentContext extends RestoreContext {
  readonly conversation: string
  /** The gate that an entry closes. */
  gate(id: string): Gate | undefined
}

/** An entry and when it was stored. Its data may be a record that is not written out. */
export type LoggedEntry = NewEntry & { readonly time: number }

/** What the feed says about an entry; undefined if it says nothing. This is the only place where entries become events. */
export function contentOf(entry: LoggedEntry, context: ContentContext): FeedContent | undefined {
  const { kind, data, time } = entry
  switch (kind) {
    case 'turn-start':
      return startContent(data)
    case 'message':
      return messageContent(Message.isMessage(data) ? data : Message.fromJSON(data, context))
    case 'thought': {
      const { id, content, response } = Thought.fromJSON(data)
      return { type: 'thought', id, text: content.text, isComplete: true, ...callOf(response) }
    }
    case 'history-item':
      return itemContent(data, time)
    case 'intent':
      return editedContent(data)
    case 'settlement':
      return settledContent(ToolCall.isToolCall(data) ? data : ToolCall.fromJSON(data, context))
    case 'gate-opened': {
      const { conversation } = context
      const gate = openedGate(data, { conversation, turnId: entry.turnId, now: time })
      return { type: 'gateOpened', gate }
    }
    case 'gate-closed':
      return closedContent(data, context.gate(data.id))
    case 'model-call':
      return { type: 'modelCall', ...data }
    case 'summary':
      return { type: 'summary', ...data }
    case 'rewind':
      return { type: 'rewind', toTurnId: data.toTurnId, message: data.message }
    case 'note':
      return noteContent(data)
    default:
      return endContent(data)
  }
}

const callOf = (response: string | undefined) => response !== undefined && { modelCall: response }

function startContent({ input, continues }: TurnStart): FeedContent {
  // Entries of earlier versions do not say it.
  const isKnown = input === 'resume' || input === 'recover' || input === 'undo'
  const more = continues !== undefined && { continues }
  return { type: 'turnStart', input: isKnown ? input : 'run', ...more }
}

function endContent({ status, reason, usage }: TurnEnd): FeedContent {
  return { type: 'turnEnd', status, ...(reason && { reason }), ...(usage && { usage }) }
}

function messageContent(message: Message): FeedContent {
  const { id, role, content, attachments, response, partial } = message
  const text = content?.text ?? ''
  const media = attachments.length > 0 && { attachments }
  const more = { ...callOf(response), ...(partial && { partial }), ...media }
  return { type: 'message', id, text, role, isComplete: true, ...more }
}

/** A call as it was asked for, or a message that no record can hold. Other items have no event. */
function itemContent(data: EntryData['history-item'], time: number): FeedContent | undefined {
  const { id, createdAt = '', inputId, settles } = data
  const item: HistoryItem = data
  if (item.type === 'message') {
    const { role, parts, response, context } = item
    // The others are written by the runner or the application, for the model.
    if (role !== 'assistant' || context !== undefined) return undefined
    const text = spokenText(parts)
    return { type: 'message', id, text, role, isComplete: true, ...callOf(response) }
  }
  if (item.type !== 'call' && item.type !== 'openCall') return undefined
  // The call was announced before, when its provider left it open; or it has no record.
  if (settles !== undefined || isUnrecorded(item)) return undefined
  const { tool, args, response } = item
  const told = Date.parse(createdAt)
  const askedAt = Number.isNaN(told) ? time : told
  const call = { id, tool, args, checksum: checksum(tool, args), askedAt }
  return { ...askedContent(call), ...(inputId !== undefined && { inputId }), ...callOf(response) }
}

const isUnrecorded = (item: CallItem | OpenCallItem) =>
  item.type === 'call' && item.executedBy === 'provider' && item.result === undefined

interface Asked extends Pick<ToolCall, 'id' | 'tool' | 'args' | 'checksum'> {
  readonly askedAt: number
}

function askedContent({ askedAt, ...call }: Asked): FeedToolCall {
  const createdAt = utcTime(askedAt)
  const state = { isComplete: false, isError: false, createdAt, updatedAt: createdAt }
  return { type: 'toolCall', ...call, ...state }
}

/** A call with edited arguments is a call of its own, and only its intent describes it. */
function editedContent({ id, tool, args, checksum: sum, createdAt, editOf }: Intent) {
  if (editOf === undefined) return undefined
  return askedContent({ id, tool, args, checksum: sum, askedAt: Date.parse(createdAt) })
}

function settledContent(record: ToolCall): FeedContent {
  const { id, tool, args, isError, settlement, createdAt, updatedAt, completedAt } = record
  const { approvedBy } = record
  const results = resultText(record) ?? record.results
  const allowed = approvedBy && { approvedBy }
  const state = { results, isComplete: true, isError, settlement, ...allowed }
  const media = record.media && { media: record.media }
  const times = { createdAt, updatedAt, completedAt }
  return {
    type: 'toolCall',
    id,
    tool,
    args,
    checksum: record.checksum,
    ...state,
    ...media,
    ...times,
  }
}

function closedContent({ outcome, decision }: GateClosing, gate: Gate | undefined) {
  if (gate === undefined) return undefined
  // A gate that was given up used no decision, whatever its row says later.
  const used = outcome === 'consumed' ? (decision ?? gate.decision) : undefined
  const { decision: _, ...asked } = gate
  const closed: Gate = { ...asked, state: outcome, ...(used && { decision: used }) }
  const by = used && { decidedBy: used.decidedBy }
  return { type: 'gateDecided', gate: closed, ...by } as const
}

/** Notes for operators are warnings; the others belong to the history of the model. */
function noteContent({ level, code, message, data }: Note): FeedContent | undefined {
  if (level === 'info') return undefined
  const { toolCallId } = (data ?? {}) as { readonly toolCallId?: unknown }
  const about = typeof toolCallId === 'string' && { toolCallId }
  return { type: 'warning', code, message, ...about }
}
