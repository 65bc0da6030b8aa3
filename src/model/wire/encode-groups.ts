import { isObject, wrongInput } from '../../core/error/wrong-input.ts'
import type { JsonValue } from '../../core/json/json.ts'
import type { ProviderData, WireReference } from '../../core/wire-reference.ts'
import type { CallItem, CallResult, HistoryItem, OpenCallItem } from '../../records/history-item.ts'
import { IdProjection, type IdRules } from './id-projection.ts'
import { ownData, type ProviderKey } from './provider-data.ts'

/** How a history is encoded for one request. */
export interface EncodeOptions {
  /** Opaque state is replayed only under the key that it was received with. */
  readonly endpoint?: string
  readonly modelFamily?: string
  /** The request continues a response that the provider stores, so results may come without calls. */
  readonly continues?: boolean
  /** Receives every change that the history needed, each once per request. */
  onRepair?(repair: Repair): void
}

/** What encoding had to do to a history that does not fit the wire as it is. */
export interface Repair {
  /** `dead-thinking`: reasoning that the provider takes back only after the very request that it was produced under. */
  readonly kind: 'missing-result' | 'stray-result' | 'left-out' | 'added' | 'dead-thinking'
  /** The id of the call, or the type of the item. */
  readonly item: string
  readonly message: string
}

/** Items that travel together: one response with its results, or one piece of input. */
export type Group =
  | { readonly kind: 'input'; readonly item: HistoryItem }
  | { readonly kind: 'response'; readonly items: readonly HistoryItem[] }

/** What the encoder of a group may ask. The same question has the same answer during one request. */
export interface EncodeContext {
  readonly continues: boolean
  /** The opaque data, when this wire may have it back. */
  own(data: ProviderData | undefined): JsonValue | undefined
  /** The wire items that a provider's call or stray result is sent back as, when this wire made it. */
  rawItems(call: CallItem | OpenCallItem): readonly JsonValue[] | undefined
  /** The pairing id of a call in this request. */
  callId(call: CallItem | OpenCallItem): string
  /** True for a call without result that this wire lets wait. */
  isWaiting(call: CallItem): boolean
  /** True for a result in a place of its own, whose call the request holds without one. */
  isLate(result: CallItem): boolean
  /**
   * The result of a runner's call; a missing one is made up as an error and reported, and so is one without its call,
   * unless something else in the request stands for the call.
   */
  resultOf(call: CallItem, hasStandIn?: boolean): CallResult
  leftOut(item: string, message: string): void
}

/** How the groups of a history are encoded for one protocol. */
export interface GroupOptions<Entry> extends EncodeOptions {
  readonly api: string
  readonly ids: IdRules
  /** Whether this wire lets a call wait: its result may come in any later request. */
  mayWait?(call: CallItem): boolean
  /** Turns one group into wire entries (items, messages, contents). */
  encodeGroup(group: Group, context: EncodeContext): readonly Entry[]
}

const MISSING_RESULT: CallResult = {
  isError: true,
  parts: [{ type: 'text', text: 'No result was recorded for this call.' }],
}

/** What all encoders share: cuts a history into groups, pairs calls with results, encodes each group. */
export function encodeGroups<Entry>(
  items: readonly HistoryItem[],
  options: GroupOptions<Entry>,
): Entry[] {
  checkGroups(items, options)
  const grouped = groupItems(items, (call) => options.mayWait?.(call) === true)
  const { groups } = grouped
  const opened = new Set<string>()
  const context = contextFor(options, opened, grouped)
  return groups.flatMap((group) => {
    for (const item of group) {
      if (item.type === 'openCall' && item.wire.callId !== undefined) opened.add(item.wire.callId)
    }
    const [first] = group
    return options.encodeGroup(
      first !== undefined && isInput(first)
        ? { kind: 'input', item: first }
        : { kind: 'response', items: group },
      context,
    )
  })
}

function checkGroups(items: unknown, options: unknown): void {
  if (!Array.isArray(items) || !items.every(isObject)) {
    throw wrongInput('encodeGroups', 'items', 'must be a list of items')
  }
  const { api, ids, encodeGroup } = (options ?? {}) as Partial<GroupOptions<unknown>>
  if (typeof api !== 'string' || !isObject(ids) || typeof encodeGroup !== 'function') {
    throw wrongInput('encodeGroups', 'options', 'must have `api`, `ids` and `encodeGroup`')
  }
}

interface GroupedItems {
  readonly groups: readonly HistoryItem[][]
  /** Results that came apart from their calls. */
  readonly late: ReadonlyMap<CallItem, CallResult>
  /** Results that stay in their own place, each with the call that waited for it. */
  readonly waited: ReadonlyMap<CallItem, CallItem>
  mayWait(call: CallItem): boolean
}

function groupItems(
  items: readonly HistoryItem[],
  mayWait: (call: CallItem) => boolean,
): GroupedItems {
  const groups: HistoryItem[][] = []
  const late = new Map<CallItem, CallResult>()
  const waited = new Map<CallItem, CallItem>()
  const waiting = new WaitingCalls()
  const seen = new Set<HistoryItem>()
  let group: HistoryItem[] = []
  for (const given of items) {
    // Ids are kept per object, so an object that is listed twice must count as two items.
    const item = seen.has(given) ? { ...given } : given
    seen.add(given)
    if (isLooseResult(item) && item.result !== undefined) {
      const found = waiting.take(item.wire)
      if (found !== undefined && found.group !== group && mayWait(found.call)) {
        waited.set(item, found.call)
      } else if (found !== undefined) {
        // Beside the call, not on a copy of it: its id is kept for the object.
        late.set(found.call, item.result)
        continue
      }
    }
    if (!belongs(item, group)) {
      group = []
      groups.push(group)
    }
    group.push(item)
    if (item.type === 'call' && item.result === undefined) waiting.add(item, group)
  }
  return { groups, late, waited, mayWait }
}

/** Calls without results, by what a result names its call with. */
class WaitingCalls {
  readonly #byId = new Map<string, { readonly call: CallItem; readonly group: object }[]>()

  add(call: CallItem, group: object): void {
    const { api, callId } = call.wire
    if (callId === undefined) return
    const key = `${api} ${callId}`
    const calls = this.#byId.get(key)
    if (calls === undefined) this.#byId.set(key, [{ call, group }])
    else calls.push({ call, group })
  }

  /** Where ids are used again, the latest group's calls go first, and among those the earliest. */
  take({ api, callId }: WireReference): { call: CallItem; group: object } | undefined {
    const calls = callId === undefined ? [] : (this.#byId.get(`${api} ${callId}`) ?? [])
    let at = calls.length - 1
    while (at > 0 && calls[at - 1]?.group === calls[at]?.group) at--
    return calls.splice(at, 1)[0]
  }
}

/** A result that came without its call and belongs to one of the runner's. */
function isLooseResult(item: HistoryItem): item is CallItem & { readonly resultOnly: true } {
  return item.type === 'call' && item.resultOnly === true && item.executedBy === 'runner'
}

/** True when `item` travels together with what is in the group. */
function belongs(item: HistoryItem, group: readonly HistoryItem[]): boolean {
  const last = group.at(-1)
  if (last === undefined) return false
  if (isInput(item) || isInput(last) || isLooseResult(item)) return false
  if (item.response !== undefined || last.response !== undefined) {
    return item.response === last.response
  }
  // Nothing says which response they came from: only a run of calls counts as parallel.
  return item.type === 'call' || last.type !== 'call'
}

function isInput(item: HistoryItem): boolean {
  if (item.type === 'message') return item.role !== 'assistant'
  return item.type === 'raw' && item.role === 'user'
}

function contextFor<Entry>(
  options: GroupOptions<Entry>,
  opened: ReadonlySet<string>,
  { late, waited, mayWait }: GroupedItems,
): EncodeContext {
  // A provider that holds the calls already knows them by their ids, whatever those look like.
  const { takesBack: _, ...anyForm } = options.ids
  const projection = new IdProjection(
    options.api,
    options.continues === true ? anyForm : options.ids,
  )
  const key: ProviderKey = options
  const reported = new Set<string>()
  const report = (repair: Repair) => {
    const name = `${repair.kind} ${repair.item} ${repair.message}`
    if (!reported.has(name)) options.onRepair?.(repair)
    reported.add(name)
  }
  return {
    continues: options.continues === true,
    own: (data) => ownData(data, key),
    rawItems: (call) => {
      const data = ownData(call.providerData, key)
      const items = (data as { items?: readonly JsonValue[] } | undefined)?.items
      if (items === undefined || call.type === 'openCall' || !call.resultOnly) return items
      const isExpected = call.wire.callId === undefined || opened.has(call.wire.callId)
      if (isExpected || options.continues === true) return items
      const message = `The result of \`${call.tool}\` came without its call and is sent as text.`
      report({ kind: 'stray-result', item: call.id, message })
      return undefined
    },
    callId: (call) => projection.of((call.type === 'call' && waited.get(call)) || call),
    isWaiting: (call) => call.result === undefined && !late.has(call) && mayWait(call),
    isLate: (result) => waited.has(result),
    resultOf: (call, hasStandIn) => {
      if (call.resultOnly && options.continues !== true && !hasStandIn) {
        const message = `The result of \`${call.tool}\` came without its call; a call was added.`
        report({ kind: 'stray-result', item: call.id, message })
      }
      const result = call.result ?? late.get(call)
      if (result !== undefined) return result
      const message = `\`${call.tool}\` has no result; an error took its place.`
      report({ kind: 'missing-result', item: call.id, message })
      return MISSING_RESULT
    },
    leftOut: (item, message) => report({ kind: 'left-out', item, message }),
  }
}
