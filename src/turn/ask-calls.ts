import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { JsonObject } from '../core/json.ts'
import { frozenWire } from '../core/wire-reference.ts'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import type { NewEntry } from '../store/entry.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import { MAX_BLOB_BYTES } from '../store/store.ts'
import { type ReadRequest, readRequest } from './admission.ts'
import type { CallRequest, Decision } from './executor.ts'
import { entryForItem, OWN_WIRE } from './item-records.ts'
import { noAnswerMark } from './log-tail.ts'
import type { Turn } from './turn.ts'

/** A call that was asked for: its record's id, what was read of it, and its place in the history. */
export interface AskedCall {
  readonly id: string
  readonly request: ReadRequest
  readonly item: CallItem
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The call whose arguments a person changed into these. */
  readonly editOf?: string
  /** Paths of arguments that were removed before storing; such a call cannot be run any more. */
  readonly redacted?: readonly string[]
  /** Why it will not run whatever else is said, if so. */
  readonly unfinished?: string
}

/** A response as it goes into the log: its items in wire order, its calls among them. */
export interface AskedBatch {
  readonly items: readonly HistoryItem[]
  readonly entries: readonly NewEntry[]
  readonly calls: readonly AskedCall[]
}

const UNFINISHED = 'The response ended before this call was finished; it was not run.'

/** Gives every call of a decision its id and place. Nothing that was asked for vanishes. */
export async function askCalls(turn: Turn, decision: Decision): Promise<AskedBatch> {
  const response = `${turn.id}/${turn.iteration}`
  const calls: AskedCall[] = []
  const items: HistoryItem[] = []
  const requests = 'calls' in decision ? decision.calls : []
  let next = 0
  for (const item of itemsOf(decision)) {
    if (item.type === 'call' && item.executedBy === 'runner' && item.result === undefined) {
      const asking = askOne(turn, requests[next++] ?? item, response)
      const asked = asking instanceof Promise ? await asking : asking
      calls.push(asked)
      items.push(asked.item)
    } else if (item.type === 'call' || item.type === 'openCall') {
      items.push({ ...item, id: turn.conversation.ids.claim(item.id), response })
    } else {
      items.push({ ...item, response })
    }
  }
  for (; next < requests.length; next++) {
    const asked = await askOne(turn, requests[next] as CallRequest, response)
    calls.push(asked)
    items.push(asked.item)
  }
  for (const { tool, callId, rawArgs } of decision.unfinished ?? []) {
    const request = { tool, args: rawArgs, rawArgs, ...(callId !== undefined && { id: callId }) }
    const asked = await askOne(turn, request, response)
    calls.push({ ...asked, unfinished: UNFINISHED })
    items.push(asked.item)
  }
  const entries = items.map((item) => entryOf(turn, item))
  entries.push(...noAnswerMark(turn.id, decision))
  return { items, calls, entries }
}

function itemsOf(decision: Decision): readonly HistoryItem[] {
  if (decision.items !== undefined || !('answer' in decision)) return decision.items ?? []
  return [{ type: 'message', role: 'assistant', parts: [{ type: 'text', text: decision.answer }] }]
}

function askOne(
  turn: Turn,
  request: CallRequest,
  response: string,
): AskedCall | Promise<AskedCall> {
  const id = turn.conversation.ids.claim(request.id || turn.settings.ids())
  const read = readRequest(request)
  const { rawArgs } = read
  if (typeof rawArgs === 'string' && rawArgs.length > MAX_BLOB_BYTES) {
    return spoolLongText(turn, read, rawArgs).then((spooled) =>
      askedCall(turn, id, request, spooled, response),
    )
  }
  return askedCall(turn, id, request, read, response)
}

function askedCall(
  turn: Turn,
  id: string,
  { tool, wire: given = OWN_WIRE, providerData }: CallRequest,
  request: ReadRequest,
  response: string,
): AskedCall {
  const { args, rawArgs } = request
  const wire = given === OWN_WIRE ? given : frozenWire(given)
  const item: CallItem = { type: 'call', id, tool, args, wire, executedBy: 'runner', response }
  // A wire's own form of what is on the spool would bring the megabytes back.
  const kept = typeof rawArgs === 'object' ? undefined : providerData
  const isPlain = rawArgs === undefined && kept === undefined
  return {
    id,
    request,
    item: isPlain
      ? item
      : {
          ...item,
          ...(typeof rawArgs === 'string' && { rawArgs }),
          ...(kept && { providerData: kept }),
        },
    createdAt: turn.settings.clock.now(),
  }
}

/** Megabytes that are no arguments belong on the spool, not into the log. */
async function spoolLongText(turn: Turn, read: ReadRequest, text: string): Promise<ReadRequest> {
  return { ...read, rawArgs: new SpooledArtifact(await turn.results.write(text)) }
}

function entryOf(turn: Turn, item: HistoryItem): NewEntry {
  const { settings, id: turnId } = turn
  if (item.type === 'call' && item.executedBy === 'runner' && isBrief(item)) {
    return LastingEntry.of('history-item', turnId, Object.freeze(item) as unknown as JsonObject)
  }
  if (item.type === 'call' || item.type === 'openCall') {
    return { kind: 'history-item', turnId, data: item as unknown as JsonObject }
  }
  return entryForItem(item, { turnId, id: settings.ids(), at: settings.clock.now() })
}

/** A call as `askedCall` made it, of normalised arguments and short texts. */
const isBrief = ({ rawArgs, providerData, result, fault }: CallItem) =>
  rawArgs === undefined && providerData === undefined && result === undefined && fault === undefined
