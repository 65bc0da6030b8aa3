import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import type { Clock } from '../../core/clock.ts'
import type { TurnToolCallContent } from '../../records/turn-tool-call-content.ts'
import type { NewEntry } from '../../store/entry.ts'
import { contentOf } from '../../store/feed/entry-content.ts'
import type { FeedContent, FeedToolCall } from '../../store/feed/feed-event.ts'
import type { FeedWriter, LiveFeed, OpenText } from '../../store/feed/live-feed.ts'
import type { Gate } from '../../store/gate.ts'
import type { Appended } from '../../store/store.ts'
import type { Buses } from './event-bus.ts'
import type { EventOrigin, FunctionalEvents, ObservedEvents } from './turn-events.ts'

interface EmitterParts {
  readonly buses: Buses
  readonly origin: EventOrigin
  readonly openFeed: () => LiveFeed
  readonly epoch: number
  readonly clock: Clock
  readonly restore: RestoreContext
}

/** What streams while a model or another executor decides. */
type Streamed = Exclude<keyof FunctionalEvents, 'toolCall'>

/** Tells everything that happens in one turn, once and in order: to the feed, to listeners and to observers. */
export class TurnEmitter {
  readonly origin: EventOrigin
  readonly buses: Buses
  readonly #parts: EmitterParts
  #feed: LiveFeed | undefined
  readonly #told = new Set<string>()
  /** The open gates, for the events that close them. */
  readonly #gates = new Map<string, Gate>()

  constructor(parts: EmitterParts) {
    this.buses = parts.buses
    this.origin = parts.origin
    this.#parts = parts
  }

  /** Begins to write to the feed of the conversation, whose log has this length. */
  begin(
    length: number,
    gates: readonly Gate[],
    ways: Pick<FeedWriter, 'stop' | 'nudge'>,
  ): LiveFeed {
    for (const gate of gates) this.#gates.set(gate.id, gate)
    this.#feed = this.#parts.openFeed()
    const { epoch, origin } = this.#parts
    this.#feed.begin({ epoch, turnId: origin.turnId, ...ways }, length)
    return this.#feed
  }

  end(): void {
    this.#feed?.end(this.#parts.epoch)
  }

  /** Emits what streams during a model call. */
  content<Name extends Streamed>(
    name: Name,
    piece: FunctionalEvents[Name],
    modelCall: string,
  ): void {
    this.#stream({ type: name, ...piece, modelCall } as FeedContent)
    this.buses.content.emit(name, piece, this.origin)
  }

  progress(report: ObservedEvents['toolProgress']): void {
    this.#stream({ type: 'progress', ...report })
    this.observed('toolProgress', report)
  }

  warn(warning: ObservedEvents['warning']): void {
    this.#stream({ type: 'warning', ...warning })
    this.observed('warning', warning)
  }

  /** Warns once per turn for each `about`. */
  warnOnce(about: string, warning: ObservedEvents['warning']): void {
    if (this.#isNew(about)) this.warn(warning)
  }

  observed<Name extends keyof ObservedEvents>(name: Name, content: ObservedEvents[Name]): void {
    this.buses.observed.emit(name, content, this.origin)
  }

  /** Emits the event once per turn for each `about`. */
  observedOnce<Name extends keyof ObservedEvents>(
    about: string,
    name: Name,
    content: ObservedEvents[Name],
  ): void {
    if (this.#isNew(about)) this.observed(name, content)
  }

  error(error: unknown, where: ObservedEvents['error']['where'], toolCallId?: string): void {
    this.observed('error', { error, where, ...(toolCallId !== undefined && { toolCallId }) })
  }

  /** Tells entries that are durable now. */
  stored(entries: readonly NewEntry[], { seq, time }: Appended): void {
    const { epoch } = this.#parts
    const feed = this.#feed
    // A response replaces what streamed of it.
    if (entries.some(isOfResponse)) feed?.closeTexts()
    const { turnId } = this.origin
    for (const [at, entry] of entries.entries()) {
      let content: FeedContent | undefined
      const told = () => (content ??= this.#contentOf(entry, time))
      feed?.stored(epoch, { seq: seq + at, time, turnId }, told)
      if (entry.kind === 'settlement') feed?.closeCall((entry.data as { id?: string }).id ?? '')
      const name = EVENT_NAMES[entry.kind]
      if (name === undefined) continue
      const bus = name === 'toolCall' ? this.buses.content : this.buses.observed
      const isHeard = bus.has(name as never)
      // Keep every opened gate: the event that closes it repeats its fields.
      if (isHeard || entry.kind === 'gate-opened') told()
      if (isHeard) this.#emit(content)
    }
  }

  /** Voids what streamed during a model call that failed. */
  dropTexts(): void {
    this.#feed?.closeTexts()
  }

  /** The texts that the model was writing. */
  openTexts(): readonly OpenText[] {
    return this.#feed?.openTexts() ?? []
  }

  #contentOf(entry: NewEntry, time: number): FeedContent | undefined {
    const { restore, origin } = this.#parts
    const { conversation } = origin
    const gate = (id: string) => this.#gates.get(id)
    const content = contentOf({ ...entry, time }, { ...restore, conversation, gate })
    if (content?.type === 'gateOpened') this.#gates.set(content.gate.id, content.gate)
    return content
  }

  #emit(content: FeedContent | undefined): void {
    switch (content?.type) {
      case 'toolCall':
        this.buses.content.emit('toolCall', forListeners(content), this.origin)
        break
      case 'gateOpened':
        this.observed('gateOpened', content.gate)
        break
      case 'gateDecided': {
        const { gate, decidedBy } = content
        const verdict = gate.decision?.verdict
        if (gate.state !== 'consumed' || verdict === undefined || decidedBy === undefined) break
        this.observed('gateDecided', { gate, decision: verdict, decidedBy })
        break
      }
      case 'summary': {
        const { type: _, ...summary } = content
        this.observed('summary', summary)
        break
      }
      case 'warning':
        this.observed('warning', content as ObservedEvents['warning'])
        break
      default:
    }
  }

  #stream(content: FeedContent): void {
    const { epoch, clock } = this.#parts
    this.#feed?.streamed(epoch, content as never, clock.now(), this.origin.turnId)
  }

  #isNew(about: string): boolean {
    return this.#told.size < this.#told.add(about).size
  }
}

/** The event of a listener or an observer for each kind of entry. */
const EVENT_NAMES: { readonly [K in NewEntry['kind']]?: 'toolCall' | keyof ObservedEvents } = {
  'history-item': 'toolCall',
  intent: 'toolCall',
  settlement: 'toolCall',
  'gate-opened': 'gateOpened',
  'gate-closed': 'gateDecided',
  summary: 'summary',
  note: 'warning',
}

function forListeners(content: FeedToolCall): TurnToolCallContent {
  const { type: _, modelCall: __, ...call } = content
  return call
}

const isOfResponse = ({ kind, data }: NewEntry) =>
  (kind === 'message' || kind === 'thought' || kind === 'history-item') &&
  (data as { readonly response?: string }).response !== undefined
