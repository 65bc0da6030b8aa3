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
import { CALL_NOTE, type GateClosing, type Note } from '../../store/entry.ts'
import { type AskedCall, shownId } from '../log/call-state.ts'
import { type Fact, OWN_WIRE } from '../log/fact.ts'
import type { Presentation } from './presentation.ts'
import { editNote } from './presentation.ts'

/** One place in the history. */
type Place =
  | { readonly is: 'item'; item: HistoryItem }
  | { readonly is: 'message'; readonly message: Message }
  | { readonly is: 'call'; readonly item: CallItem; record?: ToolCall; note?: string }

/**
 * The conversation as the model sees it. Facts get their places at once. A place is rendered when a request is made, and
 * again only if it changed.
 */
export class History {
  /** The rendered places, up to the first call without a record. */
  readonly items: HistoryItem[] = []
  readonly #places: Place[] = []
  readonly #byCall = new Map<string, number>()
  readonly #changed = new Set<number>()
  /** Facts that have their places before they are durable. */
  readonly #staged = new Set<Fact>()
  /** The calls of gates, by gate. */
  readonly #gates = new Map<string, string>()
  readonly #presentation: Presentation
  readonly #onHandle: (record: ToolCall) => void

  constructor(presentation: Presentation, onHandle: (record: ToolCall) => void) {
    this.#presentation = presentation
    this.#onHandle = onHandle
  }

  apply(facts: readonly Fact[]): void {
    for (const fact of facts) this.#apply(fact)
  }

  #apply(fact: Fact): void {
    switch (fact.kind) {
      case 'message':
        this.#places.push({ is: 'message', message: fact.message })
        break
      case 'thought':
        this.#places.push({ is: 'item', item: thoughtItem(fact.thought) })
        break
      case 'call':
        this.#placeCall(fact.call)
        break
      case 'item':
        if (!this.#staged.delete(fact)) this.#placeItem(fact.id, fact.item)
        break
      case 'settlement':
        this.#placeRecord(fact.record)
        break
      case 'note':
        this.#placeNote(fact.note)
        break
      case 'gate-opened':
        this.#gates.set(fact.gate.id, fact.gate.toolCallId ?? '')
        break
      case 'gate-closed':
        this.#placeDecision(fact.closing)
        break
      case 'intent':
      case 'model-call':
      case 'turn-start':
      case 'turn-end':
        break
    }
  }

  /** Places a fact that is committed with the next response; a request shows it before. */
  stage(fact: Fact): void {
    this.#apply(fact)
    this.#staged.add(fact)
  }

  /** Whether the last place is the message of the turn. */
  get endsInMessage(): boolean {
    const last = this.#places.at(-1)
    return last?.is === 'message' && last.message.role === 'user'
  }

  /** Brings `items` up to date. */
  async render(): Promise<readonly HistoryItem[]> {
    for (const at of this.#changed) {
      if (at < this.items.length) this.items[at] = await this.#render(at)
    }
    this.#changed.clear()
    while (this.items.length < this.#places.length) {
      const place = this.#places[this.items.length] as Place
      if (place.is === 'call' && place.record === undefined) break
      // A model that is asked again for a text that was cut off begins anew.
      if (isPartial(place) && this.#places.slice(this.items.length).every(isPartial)) break
      this.items.push(await this.#render(this.items.length))
    }
    return this.items
  }

  async #render(at: number): Promise<HistoryItem> {
    const place = this.#places[at] as Place
    if (place.is === 'item') return place.item
    if (place.is === 'message') return this.#presentation.message(place.message)
    const { item, note } = place
    const record = place.record as ToolCall
    const { result, hasHandle } = await this.#presentation.call(record)
    if (hasHandle) this.#onHandle(record)
    const notes = [editNote(record), note].filter((text) => text !== undefined)
    const parts = [...result.parts, ...notes.map((text) => ({ type: 'text', text }) as const)]
    return { result: { isError: result.isError, parts }, ...item }
  }

  #placeCall({ item }: AskedCall): void {
    this.#byCall.set(item.id, this.#places.length)
    this.#places.push({ is: 'call', item })
  }

  #placeItem(id: string, item: HistoryItem): void {
    if (item.type === 'message' && item.context && this.endsInMessage) {
      // Context stands before the message of its turn, so that requests only grow.
      const at = this.#places.length - 1
      this.#places.splice(at, 0, { is: 'item', item })
      if (this.items.length > at) this.items.splice(at, 0, item)
      return
    }
    const isCall = item.type === 'call' || item.type === 'openCall'
    if (isCall) this.#byCall.set(id, this.#places.length)
    this.#places.push({ is: 'item', item: isCall ? this.#withForeign({ ...item, id }) : item })
  }

  /** The provider of a call gets its own form back. Every other provider gets text in envelopes. */
  #withForeign<Call extends CallItem | OpenCallItem>(call: Call): Call {
    if (call.executedBy !== 'provider') return call
    return { ...call, foreign: foreignForm(this.#presentation.key, call) }
  }

  /** A record without an item, as in an imported conversation, gets its place where it settled. */
  #placeRecord(record: ToolCall): void {
    const id = shownId(record)
    const at = this.#byCall.get(id)
    if (at === undefined) {
      const { tool, args, wire = OWN_WIRE } = record
      const executedBy = record.executedBy === 'provider' ? 'provider' : 'runner'
      this.#byCall.set(id, this.#places.length)
      const item: CallItem = { type: 'call', id, tool, args, wire, executedBy }
      this.#places.push({ is: 'call', item: this.#withForeign(item), record })
      return
    }
    const place = this.#places[at] as Place
    // A provider's own call is shown as the provider sent it.
    if (place.is !== 'call') return
    place.record = record
    this.#changed.add(at)
  }

  #placeNote({ code, message, data }: Note): void {
    if (code !== CALL_NOTE) return
    const { toolCallId } = (data ?? {}) as { readonly toolCallId?: string }
    const at = this.#byCall.get(toolCallId ?? '')
    const place = this.#places[at ?? -1]
    if (at === undefined || place?.is !== 'call') return
    place.note = message
    this.#changed.add(at)
  }

  #placeDecision(closing: GateClosing): void {
    const at = this.#byCall.get(this.#gates.get(closing.id) ?? '')
    const place = this.#places[at ?? -1]
    if (at === undefined || place?.is !== 'item' || place.item.type !== 'openCall') return
    if (place.item.gate === undefined) return
    const gate = { ...place.item.gate, decision: providerDecision(closing) }
    place.item = { ...place.item, gate }
    this.#changed.add(at)
  }
}

const isPartial = (place: Place) => place.is === 'message' && place.message.partial === true

/** The decision that the provider receives; a gate without a decision in time counts as declined. */
function providerDecision({
  outcome,
  decision,
}: GateClosing): NonNullable<ProviderGate['decision']> {
  const used = outcome === 'consumed' ? decision : undefined
  const approved = used?.verdict === 'approved'
  const reason = used === undefined ? 'Nobody decided in time.' : used.comment
  return { approved, ...(reason !== undefined && { reason }) }
}

/** A stored thought as a history item. */
function thoughtItem({ content, providerData, response }: Thought): HistoryItem {
  return {
    type: 'thought',
    text: content.text,
    ...(providerData && { providerData }),
    ...(response !== undefined && { response }),
  }
}
