import { DateTime } from 'luxon'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { JsonObject } from '../core/json.ts'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import type { NewEntry } from '../store/entry.ts'
import { MAX_BLOB_BYTES } from '../store/store.ts'
import { type ReadRequest, readRequest } from './admission.ts'
import type { CallRequest, Decision } from './executor.ts'
import { entryForItem, OWN_WIRE } from './item-records.ts'
import type { Turn } from './turn.ts'

/** A call that was asked for: its record's id, what was read of it, and its place in the history. */
export interface AskedCall {
  readonly id: string
  readonly request: ReadRequest
  readonly item: CallItem
  readonly createdAt: DateTime<true>
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
  const requests = 'calls' in decision ? [...decision.calls] : []
  const ask = async (request: CallRequest, unfinished?: string) => {
    const asked = await askOne(turn, request, response, unfinished)
    calls.push(asked)
    items.push(asked.item)
  }
  for (const item of itemsOf(decision)) {
    if (item.type === 'call' && item.executedBy === 'runner' && item.result === undefined) {
      await ask(requests.shift() ?? item)
    } else if (item.type === 'call' || item.type === 'openCall') {
      items.push({ ...item, id: turn.conversation.ids.claim(item.id), response })
    } else {
      items.push({ ...item, response })
    }
  }
  for (const request of requests) await ask(request)
  for (const { tool, callId, rawArgs } of decision.unfinished ?? []) {
    const request = { tool, args: rawArgs, rawArgs, ...(callId !== undefined && { id: callId }) }
    await ask(request, UNFINISHED)
  }
  return { items, calls, entries: items.map((item) => entryOf(turn, item)) }
}

function itemsOf(decision: Decision): readonly HistoryItem[] {
  if (decision.items !== undefined || !('answer' in decision)) return decision.items ?? []
  return [{ type: 'message', role: 'assistant', parts: [{ type: 'text', text: decision.answer }] }]
}

async function askOne(
  turn: Turn,
  request: CallRequest,
  response: string,
  unfinished?: string,
): Promise<AskedCall> {
  const { settings, conversation } = turn
  const id = conversation.ids.claim(request.id || settings.ids())
  const read = await spoolLongText(turn, readRequest(request))
  const { rawArgs } = read
  const item: CallItem = {
    type: 'call',
    id,
    tool: request.tool,
    args: read.args,
    ...(typeof rawArgs === 'string' && { rawArgs }),
    wire: request.wire ?? OWN_WIRE,
    // A wire's own form of what is on the spool would bring the megabytes back.
    ...(typeof rawArgs !== 'object' &&
      request.providerData && { providerData: request.providerData }),
    executedBy: 'runner',
    response,
  }
  const createdAt = DateTime.fromMillis(settings.clock.now(), { zone: 'utc' }) as DateTime<true>
  return { id, request: read, item, createdAt, ...(unfinished !== undefined && { unfinished }) }
}

/** Megabytes that are no arguments belong on the spool, not into the log. */
async function spoolLongText(turn: Turn, read: ReadRequest): Promise<ReadRequest> {
  const { rawArgs } = read
  if (typeof rawArgs !== 'string' || rawArgs.length <= MAX_BLOB_BYTES) return read
  return { ...read, rawArgs: new SpooledArtifact(await turn.results.write(rawArgs)) }
}

function entryOf(turn: Turn, item: HistoryItem): NewEntry {
  const { settings, id: turnId } = turn
  if (item.type === 'call' || item.type === 'openCall') {
    return { kind: 'history-item', turnId, data: item as unknown as JsonObject }
  }
  return entryForItem(item, { turnId, id: settings.ids(), at: settings.clock.now() })
}
