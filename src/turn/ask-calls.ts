import { DateTime } from 'luxon'
import type { JsonObject } from '../core/json.ts'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import type { NewEntry } from '../store/entry.ts'
import { type ReadRequest, readRequest } from './admission.ts'
import type { CallRequest, Decision } from './executor.ts'
import { entryForItem } from './item-records.ts'
import type { Turn } from './turn.ts'

/** A call that was asked for: its record's id, what was read of it, and its place in the history. */
export interface AskedCall {
  readonly id: string
  readonly request: ReadRequest
  readonly item: CallItem
  readonly createdAt: DateTime<true>
  /** Why it will not run whatever else is said, if so. */
  readonly unfinished?: string
}

/** A response as it goes into the log: its items in wire order, its calls among them. */
export interface AskedBatch {
  readonly items: readonly HistoryItem[]
  readonly entries: readonly NewEntry[]
  readonly calls: readonly AskedCall[]
}

/** Gives every call of a decision its id and place. Nothing that was asked for vanishes. */
export function askCalls(turn: Turn, decision: Decision): AskedBatch {
  const response = `${turn.id}/${turn.iteration}`
  const calls: AskedCall[] = []
  const requests = 'calls' in decision ? [...decision.calls] : []
  const ask = (request: CallRequest, unfinished?: string): CallItem => {
    const asked = askOne(turn, request, response, unfinished)
    calls.push(asked)
    return asked.item
  }
  const items = (decision.items ?? []).map((item): HistoryItem => {
    const isOurs = item.type === 'call' && item.executedBy === 'runner' && item.result === undefined
    const placed = isOurs ? ask(requests.shift() ?? item) : item
    return { ...placed, response }
  })
  for (const request of requests) items.push(ask(request))
  for (const { tool, callId, rawArgs } of decision.unfinished ?? []) {
    const request = { tool, args: rawArgs, rawArgs, ...(callId !== undefined && { id: callId }) }
    items.push(ask(request, 'The response ended before this call was finished; it was not run.'))
  }
  return { items, calls, entries: items.map((item) => entryOf(turn, item)) }
}

function askOne(
  turn: Turn,
  request: CallRequest,
  response: string,
  unfinished?: string,
): AskedCall {
  const { settings, conversation } = turn
  const id = conversation.ids.claim(request.id || settings.ids())
  const read = readRequest(request)
  const { rawArgs } = read
  const item: CallItem = {
    type: 'call',
    id,
    tool: request.tool,
    args: read.args,
    ...(rawArgs !== undefined && { rawArgs }),
    wire: request.wire ?? {
      provider: 'bobbin',
      api: 'executor',
      type: 'call',
      origin: 'synthetic',
    },
    ...(request.providerData && { providerData: request.providerData }),
    executedBy: 'runner',
    response,
  }
  const createdAt = DateTime.fromMillis(settings.clock.now(), { zone: 'utc' }) as DateTime<true>
  return { id, request: read, item, createdAt, ...(unfinished !== undefined && { unfinished }) }
}

function entryOf(turn: Turn, item: HistoryItem): NewEntry {
  const { settings, id: turnId } = turn
  if (item.type === 'call' || item.type === 'openCall') {
    return { kind: 'history-item', turnId, data: item as unknown as JsonObject }
  }
  return entryForItem(item, { turnId, id: settings.ids(), at: settings.clock.now() })
}
