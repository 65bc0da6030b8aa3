import type { JsonValue } from '../core/json.ts'
import type { ProviderData } from '../core/wire-reference.ts'
import type { CallItem, CallResult, HistoryItem, OpenCallItem } from '../records/history-item.ts'
import { IdProjection, type IdRules } from './id-projection.ts'
import { ownData, type ProviderKey } from './provider-data.ts'

export interface EncodeOptions {
  /** Opaque state is replayed only under the key that it was received with. */
  readonly endpoint?: string
  readonly modelFamily?: string
  /** The request goes on from a response that the provider stores: results may come without calls. */
  readonly continues?: boolean
  /** Hears once of everything that had to be mended or left out. */
  onRepair?(repair: Repair): void
}

/** What encoding had to do to a history that does not fit the wire as it is. */
export interface Repair {
  readonly kind: 'missing-result' | 'stray-result' | 'left-out' | 'added'
  /** The id of the call, or the type of the item. */
  readonly item: string
  readonly message: string
}

/** Items that travel together: one response with its results, or one piece of input. */
export type Group =
  | { readonly kind: 'input'; readonly item: HistoryItem }
  | { readonly kind: 'response'; readonly items: readonly HistoryItem[] }

/** What the encoder of a group may ask. Asking twice gives the same answer while the group is the same. */
export interface EncodeContext {
  readonly continues: boolean
  /** The opaque data, when this wire may have it back. */
  own(data: ProviderData | undefined): JsonValue | undefined
  /** The wire items that a provider's call or stray result is sent back as, when this wire made it. */
  rawItems(call: CallItem | OpenCallItem): readonly JsonValue[] | undefined
  /** The pairing id of a call in this request. */
  callId(call: CallItem | OpenCallItem): string
  /** The result of a runner's call; a missing one is made up as an error and reported. */
  resultOf(call: CallItem): CallResult
  leftOut(item: string, message: string): void
}

export interface GroupEncoderOptions<Entry> extends EncodeOptions {
  readonly api: string
  readonly ids: IdRules
  /** Turns one group into wire entries (items, messages, contents). Pure apart from `context`. */
  encodeGroup(group: Group, context: EncodeContext): readonly Entry[]
}

const MISSING_RESULT: CallResult = {
  isError: true,
  parts: [{ type: 'text', text: 'No result was recorded for this call.' }],
}

/**
 * The part that all encoders share: cuts a history into groups as it grows, encodes each closed group
 * once, and mends pairs. The cost of a push is the cost of its own group.
 */
export class GroupEncoder<Entry> {
  readonly #options: GroupEncoderOptions<Entry>
  readonly #context: EncodeContext
  /** Those of closed groups, and behind them those of the open one. */
  readonly #entries: Entry[] = []
  readonly #opened = new Set<string>()
  readonly #seen = new Set<HistoryItem>()
  /** Results that came apart from calls of the open group. */
  readonly #late = new Map<CallItem, CallResult>()
  #group: HistoryItem[] = []
  #isEncoded = true
  #final = 0

  constructor(options: GroupEncoderOptions<Entry>) {
    this.#options = options
    this.#context = contextFor(options, this.#opened, this.#late)
  }

  /** How many entries belong to closed groups: those never change. */
  get final(): number {
    return this.#final
  }

  push(...items: readonly HistoryItem[]): void {
    for (const item of items) {
      // Ids are kept per object, so an object that is pushed twice must count as two items.
      this.#add(this.#seen.has(item) ? { ...item } : item)
      this.#seen.add(item)
    }
  }

  /** Everything pushed so far. The list is live: what is pushed later goes onto it. */
  entries(): Entry[] {
    if (!this.#isEncoded) {
      this.#entries.length = this.#final
      for (const entry of this.#encodeOpen()) this.#entries.push(entry)
      this.#isEncoded = true
    }
    return this.#entries
  }

  #add(item: HistoryItem): void {
    if (this.#settleInGroup(item)) return
    if (!this.#belongs(item)) this.#close()
    this.#group.push(item)
    this.#isEncoded = false
    if (item.type === 'openCall' && item.wire.callId !== undefined) {
      this.#opened.add(item.wire.callId)
    }
  }

  #close(): void {
    this.#final = this.entries().length
    this.#group = []
    this.#late.clear()
  }

  /** A result that arrived apart from its call goes onto it while the group is still open. */
  #settleInGroup(item: HistoryItem): boolean {
    if (item.type !== 'call' || !item.resultOnly || item.executedBy !== 'runner') return false
    const { wire, result } = item
    const call = this.#group.find(
      (other): other is CallItem =>
        other.type === 'call' &&
        other.result === undefined &&
        !this.#late.has(other) &&
        other.wire.callId !== undefined &&
        other.wire.api === wire.api &&
        other.wire.callId === wire.callId,
    )
    if (call === undefined || result === undefined) return false
    // Beside the call, not on a copy of it: its id is known by the object.
    this.#late.set(call, result)
    this.#isEncoded = false
    return true
  }

  #belongs(item: HistoryItem): boolean {
    const last = this.#group.at(-1)
    if (last === undefined) return true
    if (isInput(item) || isInput(last)) return false
    if (item.type === 'call' && item.resultOnly && item.executedBy === 'runner') return false
    if (item.response !== undefined || last.response !== undefined) {
      return item.response === last.response
    }
    // Nothing says which response they came from: only a run of calls counts as parallel.
    return item.type === 'call' || last.type !== 'call'
  }

  #encodeOpen(): readonly Entry[] {
    const [first] = this.#group
    if (first === undefined) return []
    const group: Group = isInput(first)
      ? { kind: 'input', item: first }
      : { kind: 'response', items: this.#group }
    return this.#options.encodeGroup(group, this.#context)
  }
}

function isInput(item: HistoryItem): boolean {
  if (item.type === 'message') return item.role !== 'assistant'
  return item.type === 'raw' && item.role === 'user'
}

function contextFor<Entry>(
  options: GroupEncoderOptions<Entry>,
  opened: ReadonlySet<string>,
  late: ReadonlyMap<CallItem, CallResult>,
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
      const message = `The result of \`${call.tool}\` came without its call and is told as text.`
      report({ kind: 'stray-result', item: call.id, message })
      return undefined
    },
    callId: (call) => projection.of(call),
    resultOf: (call) => {
      if (call.resultOnly && options.continues !== true) {
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
