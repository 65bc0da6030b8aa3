import type { FeedMessage, FeedThought, FeedToolInput } from '../store/feed/feed-event.ts'
import type { UiChunk } from './ui-chunk.ts'

/** A text that streams, or one that is stored. Stored messages of the user are not among them. */
export type StreamedText = FeedMessage | FeedThought | FeedToolInput

interface Open {
  readonly type: StreamedText['type']
  readonly tool: string
  /** The id under which the page has it. */
  readonly shownAs: string
  text: string
}

const INTERRUPTED = 'The model was interrupted while it wrote this call. Nothing ran.'

/** The texts, thoughts and arguments that are being written. A page can only add to them, so this finds what to add. */
export class OpenTexts {
  readonly #open = new Map<string, Open>()
  readonly #ended = new Set<string>()
  #renamed = 0

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** The chunks that bring the page to what the event says. */
  take(event: StreamedText): readonly UiChunk[] {
    const { id } = event
    if (this.#ended.has(id)) return []
    const chunks: UiChunk[] = []
    const known = this.#open.get(id)
    // A piece adds to what is shown: comparing the whole each time would be quadratic.
    if (known !== undefined && event.text === undefined) {
      known.text += event.delta
      return event.delta === '' ? [] : [deltaChunk(known, event.delta)]
    }
    const wanted = event.text ?? (known?.text ?? '') + event.delta
    let open = known
    if (open !== undefined && !wanted.startsWith(open.text)) {
      // The call will say its arguments.
      if (event.type === 'toolInput') return []
      // Something was taken out before it was stored. Shown text cannot be changed, so the whole text comes again.
      chunks.push(...this.#end(id, open, { isVoid: true }))
      open = undefined
    }
    if (open === undefined) {
      if (wanted === '') return chunks
      open = this.#start(event, known !== undefined)
      chunks.push(startChunk(open))
    }
    const added = wanted.slice(open.text.length)
    if (added !== '') chunks.push(deltaChunk(open, added))
    open.text = wanted
    if (event.isComplete !== true) return chunks
    const isPartial = 'partial' in event && event.partial
    return [...chunks, ...this.#end(id, open, { isPartial })]
  }

  /** The arguments under this id are whole: the call itself says so. */
  close(id: string): void {
    this.#open.delete(id)
    this.#ended.add(id)
  }

  /** Ends what was not stored, marked as void: pages hide it. */
  drop(): readonly UiChunk[] {
    return [...this.#open].flatMap(([id, open]) => this.#end(id, open, { isVoid: true }))
  }

  /** Forgets what the page itself has dropped. */
  forget(): void {
    for (const id of this.#open.keys()) this.#ended.add(id)
    this.#open.clear()
  }

  #start(event: StreamedText, isAgain: boolean): Open {
    const { type, id } = event
    const shownAs = isAgain ? `${id}~${++this.#renamed}` : id
    const open = { type, tool: event.type === 'toolInput' ? event.tool : '', shownAs, text: '' }
    this.#open.set(id, open)
    return open
  }

  #end(id: string, open: Open, marks: Marks): readonly UiChunk[] {
    this.#open.delete(id)
    // Void arguments may come again under another id; a replaced text continues under its own id.
    if (marks.isVoid !== true) this.#ended.add(id)
    return [endChunk(open, marks)]
  }
}

interface Marks {
  readonly isVoid?: boolean
  readonly isPartial?: boolean
}

function startChunk({ type, tool, shownAs }: Open): UiChunk {
  if (type === 'toolInput') {
    return { type: 'tool-input-start', toolCallId: shownAs, toolName: tool, dynamic: true }
  }
  return { type: type === 'message' ? 'text-start' : 'reasoning-start', id: shownAs }
}

function deltaChunk({ type, shownAs }: Open, delta: string): UiChunk {
  if (type === 'toolInput') {
    return { type: 'tool-input-delta', toolCallId: shownAs, inputTextDelta: delta }
  }
  return { type: type === 'message' ? 'text-delta' : 'reasoning-delta', id: shownAs, delta }
}

function endChunk({ type, tool, shownAs, text }: Open, { isVoid, isPartial }: Marks): UiChunk {
  if (type === 'toolInput') {
    const call = { toolCallId: shownAs, toolName: tool, input: text, dynamic: true } as const
    return { type: 'tool-input-error', ...call, errorText: INTERRUPTED }
  }
  const mark = isVoid ? { isVoid } : isPartial ? { isPartial } : undefined
  return {
    type: type === 'message' ? 'text-end' : 'reasoning-end',
    id: shownAs,
    ...(mark && { providerMetadata: { bobbin: mark } }),
  }
}
