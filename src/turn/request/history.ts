import type { CallItem, CallResult, HistoryItem } from '../../records/history-item.ts'
import type { Message } from '../../records/message.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import {
  CALL_NOTE,
  type GateClosing,
  type Intent,
  type ModelCall,
  type Note,
  type Summary,
} from '../../store/entry.ts'
import { type AskedCall, shownId } from '../log/call-state.ts'
import { backgroundResultIn, type Fact, OWN_WIRE } from '../log/fact.ts'
import {
  callOf,
  isContext,
  isPartial,
  isUsers,
  NOT_SHOWN,
  type Origin,
  type Place,
  type Placed,
  providerDecision,
  replace,
  thoughtItem,
  UNCHANGED,
  withForeign,
} from './history-place.ts'
import { laterMessage, receipt } from './later-text.ts'
import type { Presentation } from './presentation.ts'
import { editNote } from './presentation.ts'

/** A history before a summary took the place of its beginning. */
interface Uncut extends Pick<History, 'base' | 'summary'> {
  readonly places: readonly Place[]
  readonly handles: readonly string[]
}

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
  readonly #staged = new Map<Fact, Place>()
  /** The calls whose results budgets turned into handles. */
  readonly handles = new Set<string>()
  /** The summary that stands in the first place, if there is one. */
  summary: Summary | undefined
  /** The entry that is applied. */
  #seq = 0
  #turn = 0
  /** The number of the first place: a place keeps its number when a summary takes the place of those before it. */
  base = 0
  /** The records of background calls that have no place yet. */
  readonly #unshown = new Map<string, ToolCall>()
  /** The calls that a rewind took out. */
  readonly #rewound = new Set<string>()
  /** The history as it was before a summary cut through the turn of the last message. */
  #uncut: Uncut | undefined
  /** The calls of gates, by gate. */
  readonly #gates = new Map<string, string>()
  readonly #presentation: Presentation
  readonly #onHandle: (record: ToolCall) => void

  constructor(presentation: Presentation, onHandle: (record: ToolCall) => void) {
    this.#presentation = presentation
    this.#onHandle = onHandle
  }

  apply(facts: readonly Fact[], seq: number): void {
    for (const [at, fact] of facts.entries()) {
      this.#seq = seq + at
      this.#apply(fact)
    }
  }

  /** Begins behind what a summary covers, with the messages that it keeps. The summary itself comes in its turn. */
  beginBehind({ place = 0 }: Summary, kept: readonly { message: Message; seq: number }[]): void {
    for (const { message, seq } of kept) this.apply([{ kind: 'message', message }], seq)
    this.base = place - kept.length
  }

  #apply(fact: Fact): void {
    switch (fact.kind) {
      case 'message':
        this.#places.push({ is: 'message', message: fact.message, ...this.#here() })
        if (fact.message.role === 'user') this.#uncut = undefined
        break
      case 'thought':
        this.#places.push({ is: 'item', item: thoughtItem(fact.thought), ...this.#here() })
        break
      case 'call':
        this.#placeCall(fact.call)
        break
      case 'item':
        if (!this.#unstage(fact)) this.#placeItem(fact.id, fact.item)
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
        this.#placeReceipt(fact.intent)
        break
      case 'model-call':
        this.#shed(fact.modelCall)
        break
      case 'summary':
        this.#placeSummary(fact.summary)
        break
      case 'rewind':
        this.#rewind(fact.rewind.message)
        break
      case 'turn-start':
        if ((fact.start.input ?? 'run') === 'run') this.#turn++
        break
      case 'turn-end':
        break
    }
  }

  #here(): Placed {
    return { first: this.#seq, last: this.#seq, turn: this.#turn }
  }

  /** Places an item that is committed with the next response; a request shows it before. */
  stage(fact: Fact & { kind: 'item' }): void {
    this.#staged.set(fact, this.#placeItem(fact.id, fact.item))
  }

  /** True when the fact has its place: it is durable now. */
  #unstage(fact: Fact): boolean {
    const place = this.#staged.get(fact)
    if (place === undefined) return false
    place.first = place.last = this.#seq
    return this.#staged.delete(fact)
  }

  /** What a budget took out of a request stays out. */
  #shed({ shed }: ModelCall): void {
    for (const id of shed?.handles ?? []) this.handles.add(id)
    for (const at of shed?.dropped ?? []) {
      const place = this.#places[at - this.base]
      if (place !== undefined) place.isDropped = true
    }
  }

  /** Where the rendered places come from. */
  get origins(): readonly Origin[] {
    return this.#places.slice(0, this.items.length).map((place) => {
      const isUser = place.is === 'message' && place.message.role === 'user'
      return { ...place, isUser }
    })
  }

  /** Whether a budget took the item at this place out of requests. */
  isDropped(at: number): boolean {
    return this.#places[at]?.isDropped === true
  }

  /** The summary takes the place of everything that it covers. */
  #placeSummary(summary: Summary): void {
    const { upTo, keeps = [] } = summary
    const last = this.#places.findLast(isUsers)
    if (last !== undefined && last.first <= upTo) {
      const { base, summary: before } = this
      const [places, handles] = [[...this.#places], [...this.handles]]
      this.#uncut ??= { places, handles, base, summary: before }
    }
    const isBehind = ({ first }: Placed) => first > upTo
    const behind = this.#places.findIndex(isBehind)
    const end = behind === -1 ? this.#places.length : behind
    const kept = this.#places.flatMap((place, at) =>
      isBehind(place) || keeps.includes(place.first) ? [{ place, at }] : [],
    )
    const item = this.#presentation.summary(summary)
    const items = kept.flatMap(({ at }) => this.items[at] ?? [])
    const changed = kept.flatMap(({ at }, place) => (this.#changed.has(at) ? [place + 1] : []))
    const isRendered = this.items.length >= end
    this.base += end - (1 + kept.filter(({ at }) => at < end).length)
    // A later summary covers this one, wherever it ends.
    const origin = { first: 0, last: 0, turn: -1 }
    replace(this.#places, [{ is: 'item', item, ...origin }, ...kept.map(({ place }) => place)])
    replace(this.items, isRendered ? [item, ...items] : [])
    this.#changed.clear()
    for (const at of changed) this.#changed.add(at)
    this.#findCalls()
    for (const id of this.handles) if (!this.#byCall.has(id)) this.handles.delete(id)
    this.summary = summary
  }

  #findCalls(): void {
    this.#byCall.clear()
    for (const [at, place] of this.#places.entries()) {
      const id = callOf(place)
      if (id !== undefined) this.#byCall.set(id, at)
    }
  }

  /** Takes out everything from a message on, with the context that stands before it. */
  #rewind(message: string): void {
    const isIt = (place: Place) => place.is === 'message' && place.message.id === message
    const found = this.#places.findLast(isIt)
    if (found === undefined) return
    if ((this.summary?.upTo ?? 0) >= found.first) this.#uncover()
    let at = this.#places.findLastIndex(isIt)
    while (isContext(this.#places[at - 1])) at--
    const taken = this.#places.splice(at)
    for (const id of taken.flatMap((place) => callOf(place) ?? [])) {
      this.#rewound.add(id)
      this.handles.delete(id)
    }
    // The result of a call that still counts is shown again.
    for (const place of taken) {
      if (place.is === 'result') this.#unshown.set(place.record.id, place.record)
    }
    for (const [id, record] of this.#unshown) {
      if (this.#rewound.has(shownId(record))) this.#unshown.delete(id)
    }
    this.items.length = Math.min(this.items.length, at)
    for (const place of this.#changed) if (place >= at) this.#changed.delete(place)
    this.#findCalls()
  }

  /** Forgets a summary that covers something of a turn that is taken back. */
  #uncover(): void {
    const before = this.#uncut
    if (before === undefined) return
    replace(this.#places, before.places)
    // Changed places are rendered again.
    replace(this.items, [])
    this.#changed.clear()
    this.handles.clear()
    for (const id of before.handles) this.handles.add(id)
    this.base = before.base
    this.summary = before.summary
    this.#uncut = undefined
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
      if (place.is === 'call' && place.record === undefined && !place.startedAs) break
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
    if (place.is === 'result') {
      return laterMessage(place.record, (await this.#renderRecord(place.record)).parts)
    }
    const { item, note, startedAs } = place
    if (startedAs !== undefined) return { ...receipt(startedAs, note), ...item }
    const record = place.record as ToolCall
    const result = await this.#renderRecord(record)
    const notes = [editNote(record), note].filter((text) => text !== undefined)
    const parts = [...result.parts, ...notes.map((text) => ({ type: 'text', text }) as const)]
    return { result: { isError: result.isError, parts }, ...item }
  }

  async #renderRecord(record: ToolCall): Promise<CallResult> {
    const { result, hasHandle } = await this.#presentation.call(record)
    if (hasHandle) this.#onHandle(record)
    return result
  }

  #placeReceipt({ id, editOf, background }: Intent): void {
    if (!background) return
    const at = this.#byCall.get(editOf ?? id)
    const place = this.#places[at ?? -1]
    if (at === undefined || place?.is !== 'call') return
    place.startedAs = id
    place.last = NOT_SHOWN
    this.#changed.add(at)
  }

  #placeCall({ item }: AskedCall): void {
    if (item.undoes !== undefined) return
    this.#byCall.set(item.id, this.#places.length)
    this.#places.push({ is: 'call', item, ...this.#here() })
  }

  #placeItem(id: string, item: HistoryItem): Place {
    const isCall = item.type === 'call' || item.type === 'openCall'
    const shown = isCall ? withForeign(this.#presentation.key, { ...item, id }) : item
    const place: Place = { is: 'item', item: shown, ...this.#here() }
    if (item.type === 'message' && item.context && this.endsInMessage) {
      // Context stands before the message of its turn, so that requests only grow.
      const at = this.#places.length - 1
      this.#places.splice(at, 0, place)
      if (this.items.length > at) this.items.splice(at, 0, item)
      return place
    }
    if (isCall) this.#byCall.set(id, this.#places.length)
    this.#places.push(place)
    return place
  }

  /** A record without an item, as in an imported conversation, gets its place where it settled. */
  #placeRecord(record: ToolCall): void {
    if (record.undoes !== undefined) {
      // The model never sees the call of an undo, and sees its result only if it may have changed something.
      if (!UNCHANGED.has(record.settlement)) this.#placeResult(record)
      return
    }
    const id = shownId(record)
    if (this.#rewound.has(id)) return
    const at = this.#byCall.get(id)
    if (at === undefined) {
      const { tool, args, wire = OWN_WIRE } = record
      const executedBy = record.executedBy === 'provider' ? 'provider' : 'runner'
      this.#byCall.set(id, this.#places.length)
      const item: CallItem = { type: 'call', id, tool, args, wire, executedBy }
      this.#places.push({
        is: 'call',
        item: withForeign(this.#presentation.key, item),
        record,
        ...this.#here(),
      })
      return
    }
    const place = this.#places[at] as Place
    place.last = this.#seq
    // A provider's own call is shown as the provider sent it.
    if (place.is !== 'call') return
    if (place.startedAs !== undefined) {
      place.last = NOT_SHOWN
      this.#unshown.set(record.id, record)
      return
    }
    place.record = record
    this.#changed.add(at)
  }

  #placeNote(note: Note): void {
    const { code, message, data } = note
    const record = this.#unshown.get(backgroundResultIn(note) ?? '')
    if (record !== undefined) this.#placeResult(record)
    if (code !== CALL_NOTE) return
    const { toolCallId } = (data ?? {}) as { readonly toolCallId?: string }
    const at = this.#byCall.get(toolCallId ?? '')
    const place = this.#places[at ?? -1]
    if (at === undefined || place?.is !== 'call') return
    place.note = message
    place.last = Math.max(place.last, this.#seq)
    this.#changed.add(at)
  }

  /** A result comes behind everything that the model has read, so that requests only grow. */
  #placeResult(record: ToolCall): void {
    const place = this.#places[this.#byCall.get(shownId(record)) ?? -1]
    if (place !== undefined) place.last = this.#seq
    this.#unshown.delete(record.id)
    this.#places.push({ is: 'result', record, ...this.#here() })
  }

  #placeDecision(closing: GateClosing): void {
    const at = this.#byCall.get(this.#gates.get(closing.id) ?? '')
    const place = this.#places[at ?? -1]
    if (at === undefined || place?.is !== 'item' || place.item.type !== 'openCall') return
    if (place.item.gate === undefined) return
    const gate = { ...place.item.gate, decision: providerDecision(closing) }
    place.item = { ...place.item, gate }
    place.last = this.#seq
    this.#changed.add(at)
  }
}
