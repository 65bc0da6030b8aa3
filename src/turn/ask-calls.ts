import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import type { NewEntry } from '../store/entry.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import { MAX_BLOB_BYTES } from '../store/store.ts'
import type { AskedCall } from './asked-call.ts'
import { callsOf, callWire } from './check-decision.ts'
import { taintNote } from './conversation-log.ts'
import type { CallRequest, Decision } from './executor.ts'
import { entryForItem, OWN_WIRE } from './item-records.ts'
import { noAnswerMark } from './log-tail.ts'
import { type ReadRequest, readRequest } from './read-request.ts'
import type { Turn } from './turn.ts'

/** A response as it goes into the log: its items in wire order, its calls among them. */
export interface AskedBatch {
  readonly items: HistoryItem[]
  /** Whoever commits them adds the rest of the commit. */
  readonly entries: NewEntry[]
  readonly calls: readonly AskedCall[]
}

/** Where calls come from: what their items share, and when it was heard. */
interface ModelResponse {
  readonly id: string
  readonly at: number
}

const UNFINISHED = 'The response ended before this call was finished; it was not run.'

/** Gives every call of a decision its id and place. Nothing that was asked for vanishes. */
export function askCalls(turn: Turn, decision: Decision): AskedBatch | Promise<AskedBatch> {
  const from: ModelResponse = {
    id: turn.responsePrefix + turn.iteration,
    at: turn.settings.clock.now(),
  }
  const { id: response } = from
  let calls: (AskedCall | Promise<AskedCall>)[] = []
  const ask = (request: CallRequest, unfinished?: string): HistoryItem | Promise<AskedCall> => {
    const asked = askOne(turn, request, from, unfinished)
    // Most responses have one, and a list that grows has room for seventeen.
    if (calls.length === 0) calls = [asked]
    else calls.push(asked)
    return asked instanceof Promise ? asked : asked.item
  }
  const requests = callsOf(decision)
  let next = 0
  const items = itemsOf(decision).map((item) => {
    if (item.type === 'call' && item.executedBy === 'runner' && item.result === undefined) {
      return ask(requests[next++] ?? item)
    }
    return item.type === 'call' || item.type === 'openCall'
      ? { ...item, id: turn.conversation.callIds.claim(item.id), response }
      : { ...item, response }
  })
  for (; next < requests.length; next++) items.push(ask(requests[next] as CallRequest))
  for (const { tool, callId, rawArgs } of decision.unfinished ?? []) {
    const request = { tool, args: rawArgs, rawArgs, ...(callId !== undefined && { id: callId }) }
    items.push(ask(request, UNFINISHED))
  }
  return calls.some((asked) => asked instanceof Promise)
    ? waitedFor(turn, decision, items, calls)
    : batchOf(turn, decision, items as HistoryItem[], calls as AskedCall[])
}

/** Long texts are on their way to the spool. */
async function waitedFor(
  turn: Turn,
  decision: Decision,
  items: readonly (HistoryItem | Promise<AskedCall>)[],
  calls: readonly (AskedCall | Promise<AskedCall>)[],
): Promise<AskedBatch> {
  const placed = items.map(async (item) => (item instanceof Promise ? (await item).item : item))
  const asked = calls.map(async (call) => call)
  const all = await Promise.all([Promise.all(placed), Promise.all(asked)])
  return batchOf(turn, decision, ...all)
}

function batchOf(
  turn: Turn,
  decision: Decision,
  items: HistoryItem[],
  calls: readonly AskedCall[],
): AskedBatch {
  const entries = items.map((item) => entryOf(turn, item))
  const mark = noAnswerMark(turn.id, decision)
  if (mark !== undefined) entries.push(mark)
  // With the first response that may rest on it: whoever reads the log later must know.
  const untold = turn.conversation.takeUntold()
  if (untold !== undefined) entries.push(taintNote(turn.id, untold))
  return { items, calls, entries }
}

function itemsOf(decision: Decision): readonly HistoryItem[] {
  if (decision.items !== undefined || !('answer' in decision)) return decision.items ?? []
  return [{ type: 'message', role: 'assistant', parts: [{ type: 'text', text: decision.answer }] }]
}

function askOne(
  turn: Turn,
  request: CallRequest,
  from: ModelResponse,
  unfinished: string | undefined,
): AskedCall | Promise<AskedCall> {
  const id = turn.conversation.callIds.claim(request.id || turn.settings.ids())
  const read = readRequest(request)
  const { rawArgs } = read
  if (typeof rawArgs === 'string' && rawArgs.length > MAX_BLOB_BYTES) {
    return spoolLongText(turn, read, rawArgs).then((spooled) =>
      askedCall(id, request, spooled, from, unfinished),
    )
  }
  return askedCall(id, request, read, from, unfinished)
}

function askedCall(
  id: string,
  { tool, wire: given = OWN_WIRE, providerData }: CallRequest,
  request: ReadRequest,
  { id: response, at: createdAt }: ModelResponse,
  unfinished: string | undefined,
): AskedCall {
  const { args, rawArgs } = request
  const wire = given === OWN_WIRE ? given : callWire(tool, given)
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
    createdAt,
    unfinished,
  }
}

/** Megabytes that are no arguments belong on the spool, not into the log. */
async function spoolLongText(turn: Turn, read: ReadRequest, text: string): Promise<ReadRequest> {
  return { ...read, rawArgs: new SpooledArtifact(await turn.results.write(text)) }
}

function entryOf(turn: Turn, item: HistoryItem): NewEntry {
  const { settings, id: turnId } = turn
  if (item.type === 'call' && item.executedBy === 'runner' && isLasting(item)) {
    return LastingEntry.of('history-item', turnId, Object.freeze(item))
  }
  if (item.type === 'call' || item.type === 'openCall') {
    return { kind: 'history-item', turnId, data: item }
  }
  return entryForItem(item, { turnId, id: settings.ids(), at: settings.clock.now() })
}

/** A call as `askedCall` made it, of normalised arguments and short texts. */
const isLasting = ({ rawArgs, providerData, result, fault }: CallItem) =>
  rawArgs === undefined && providerData === undefined && result === undefined && fault === undefined
