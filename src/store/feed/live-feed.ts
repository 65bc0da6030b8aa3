import { comparePlaces, type Place, positionAt } from '../position.ts'
import type { FeedContent, FeedEvent } from './feed-event.ts'

/** Receives the events of a conversation while they happen. It must not throw. */
export interface FeedReader {
  event(event: FeedEvent): void
  /** The turn has released the conversation. */
  ended(): void
}

/** The turn that writes. */
export interface FeedWriter {
  readonly epoch: number
  readonly turnId: string
  readonly stop: () => void
  /** Messages wait for the turn. */
  readonly nudge: () => void
}

/** A text that is still being written, or the last report of a call that still runs. */
interface Open {
  /** The last piece, or the report. */
  content: StreamedContent
  /** All pieces so far; undefined for a report. */
  text: string | undefined
  readonly turnId: string
  /** The position of its last piece. */
  seq: number
  n: number
}

/** What streams: it has no entry. */
export type StreamedContent = Exclude<FeedContent, { readonly type: 'turnStart' | 'turnEnd' }>

/** A text that is being written. */
export interface OpenText {
  readonly type: 'message' | 'thought'
  readonly id: string
  readonly text: string
  readonly modelCall?: string
}

/**
 * The live end of one conversation in this process. The holder of the conversation writes to it. It keeps the texts that
 * are still open, so that a reader who comes later gets them as a snapshot.
 */
export class LiveFeed {
  readonly #readers = new Set<FeedReader>()
  readonly #onIdle: () => void
  readonly #open = new Map<string, Open>()
  #writer: FeedWriter | undefined
  /** The model call that streams. */
  #modelCall: string | undefined
  #seq = 0
  #n = 0
  readonly #conversation: string

  constructor(conversation: string, onIdle: () => void) {
    this.#conversation = conversation
    this.#onIdle = onIdle
  }

  /** Whether a turn of this process holds the conversation. */
  get isWriting(): boolean {
    return this.#writer !== undefined
  }

  /** The turn that holds the conversation in this process. */
  get writer(): FeedWriter | undefined {
    return this.#writer
  }

  /** The last entry that was sent to the readers. */
  get seq(): number {
    return this.#seq
  }

  /** Whether texts or reports are open. */
  get hasOpen(): boolean {
    return this.#open.size > 0
  }

  /** A turn takes the conversation, whose log has this length. */
  begin(writer: FeedWriter, length: number): void {
    this.#writer = writer
    this.#seq = length
    this.#n = 0
    this.#open.clear()
  }

  /** The turn of this epoch has released the conversation. */
  end(epoch: number): void {
    if (epoch !== this.#writer?.epoch) return
    this.#writer = undefined
    this.#open.clear()
    for (const reader of [...this.#readers]) reader.ended()
    this.#rest()
  }

  /** Sends an entry to the readers, in the order of the log. `content` is called only if there are readers. */
  stored(
    epoch: number,
    entry: { readonly seq: number; readonly time: number; readonly turnId: string },
    content: () => FeedContent | undefined,
  ): void {
    if (epoch !== this.#writer?.epoch) return
    const { seq, time, turnId } = entry
    this.#seq = seq
    this.#n = 0
    const told = this.#readers.size > 0 ? content() : undefined
    if (told !== undefined) this.#tell(told, time, turnId)
  }

  /** Tells something that is not stored. What a lost turn still says is dropped. */
  streamed(epoch: number, content: StreamedContent, time: number, turnId: string): void {
    if (epoch !== this.#writer?.epoch) return
    this.#n++
    this.#keep(content, turnId)
    if (this.#readers.size > 0) this.#tell(content, time, turnId)
  }

  /** Forgets the open texts: they are stored, or void. */
  closeTexts(): void {
    for (const [key, { text }] of this.#open) if (text !== undefined) this.#open.delete(key)
  }

  /** Forgets the last report of a call that has settled. */
  closeCall(toolCallId: string): void {
    this.#open.delete(`progress ${toolCallId}`)
  }

  /** The messages and thoughts that are still being written. */
  openTexts(): readonly OpenText[] {
    return [...this.#open.values()].flatMap(({ content, text }) => {
      if (text === undefined || (content.type !== 'message' && content.type !== 'thought'))
        return []
      const { type, id, modelCall } = content
      return { type, id, text, ...(modelCall !== undefined && { modelCall }) }
    })
  }

  /**
   * Adds a reader, and first gives it what is open. `seen` is the last position that it has: a reader that was here then
   * needs only what has changed since.
   */
  join(reader: FeedReader, seen: Place, now: number): () => void {
    for (const open of this.#open.values()) {
      if (seen.n > 0 && comparePlaces(open, seen) <= 0) continue
      this.#n++
      reader.event(this.#event(soFar(open), now, open.turnId))
    }
    this.#readers.add(reader)
    return () => {
      this.#readers.delete(reader)
      this.#rest()
    }
  }

  #tell(content: FeedContent, time: number, turnId: string): void {
    const event = this.#event(content, time, turnId)
    for (const reader of this.#readers) reader.event(event)
  }

  #event(content: FeedContent, time: number, turnId: string): FeedEvent {
    const stamp = {
      position: positionAt({ seq: this.#seq, n: this.#n }),
      time,
      turnId,
      conversation: this.#conversation,
    }
    return Object.freeze({ ...stamp, ...content })
  }

  #keep(content: StreamedContent, turnId: string): void {
    const isReport = content.type === 'progress'
    if ('modelCall' in content && content.modelCall !== this.#modelCall) {
      // One model call streams at a time: what the one before did not finish is void.
      this.#modelCall = content.modelCall
      this.closeTexts()
    }
    if (!isReport && content.type !== 'message' && !isInput(content)) return
    const key = isReport ? `progress ${content.toolCallId}` : `${content.type} ${content.id}`
    const delta = isReport ? undefined : content.delta
    const known = this.#open.get(key)
    if (known === undefined) {
      this.#open.set(key, { content, text: delta, turnId, seq: this.#seq, n: this.#n })
      return
    }
    known.content = content
    if (known.text !== undefined) known.text += delta ?? ''
    known.seq = this.#seq
    known.n = this.#n
  }

  #rest(): void {
    if (this.#writer === undefined && this.#readers.size === 0) this.#onIdle()
  }
}

const isInput = (content: StreamedContent) =>
  content.type === 'thought' || content.type === 'toolInput'

/** The open texts, for a reader who comes now. */
function soFar({ content, text }: Open): FeedContent {
  if (text === undefined) return content
  const { delta: _, ...rest } = content as StreamedContent & { readonly delta?: string }
  return { ...rest, text, isComplete: false } as FeedContent
}

const feeds = new WeakMap<object, Map<string, LiveFeed>>()

/** The live feed of a conversation, the same for everybody who has the same store object. */
export function liveFeed(store: object, conversation: string): LiveFeed {
  let known = feeds.get(store)
  if (known === undefined) feeds.set(store, (known = new Map<string, LiveFeed>()))
  const all = known
  let feed = all.get(conversation)
  if (feed === undefined) {
    const made = new LiveFeed(conversation, () => {
      if (all.get(conversation) === made) all.delete(conversation)
    })
    all.set(conversation, (feed = made))
  }
  return feed
}
