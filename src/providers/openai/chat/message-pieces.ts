import type { JsonObject, JsonValue } from '../../../core/json.ts'
import type { ModelEvent } from '../../../model/model-event.ts'
import { asList, asObject, asText } from '../responses/wire.ts'
import { decodeContent } from './content.ts'
import { REASONING_MEMBERS } from './quirks.ts'
import { joinDetails, textOf, thinkingText } from './reasoning.ts'

const NOTHING: readonly ModelEvent[] = []
const READ: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'audio',
  ...REASONING_MEMBERS,
])

/** Adds up the message of a streamed response, its calls apart. */
export class MessagePieces {
  readonly #content: string[] = []
  /** Content that comes in parts, as some servers send it. */
  readonly #parts: JsonValue[] = []
  readonly #refusal: string[] = []
  readonly #reasoning = new Map<string, JsonValue[]>()
  readonly #function = { name: '', pieces: [] as string[] }
  #audio: JsonObject | undefined
  #others: JsonObject = {}

  /** Adds a delta and tells what of it a reader may see. */
  add(delta: JsonObject): readonly ModelEvent[] {
    const content = delta['content']
    // Most chunks hold one piece of text or of arguments and nothing else.
    if (typeof content === 'string' && content !== '') this.#content.push(content)
    const text = typeof content === 'string' ? content : this.#addParts(asList(content))
    const events: ModelEvent[] = []
    let thought = typeof content === 'string' ? '' : thinkingText(content)
    for (const name of REASONING_MEMBERS) {
      const value = delta[name]
      if (value === undefined || value === null || value === '') continue
      this.#addReasoning(name, value)
      // Several members may hold the same words: the first is what a reader sees.
      if (thought === '') thought = textOf(value)
    }
    if (thought !== '') events.push({ type: 'thought', key: 'thought', delta: thought })
    if (text !== '') events.push({ type: 'text', key: 'text', delta: text })
    this.#addRare(delta, events)
    return events.length === 0 ? NOTHING : events
  }

  /** The message as a whole response would hold it, without `tool_calls`. */
  whole(): JsonObject {
    const text = this.#content.join('')
    const parts = text === '' ? this.#parts : [...this.#parts, { type: 'text', text }]
    const refusal = this.#refusal.join('')
    const reasoning = [...this.#reasoning].map(([name, pieces]) => [name, joined(pieces)])
    const { name, pieces } = this.#function
    return {
      role: 'assistant',
      content: this.#parts.length > 0 ? parts : text === '' ? null : text,
      ...(refusal !== '' && { refusal }),
      ...(Object.fromEntries(reasoning) as JsonObject),
      ...(this.#audio !== undefined && { audio: this.#audio }),
      ...(name !== '' && { function_call: { name, arguments: pieces.join('') } }),
      ...this.#others,
    }
  }

  #addParts(parts: readonly JsonValue[]): string {
    for (const value of parts) {
      const part = asObject(value)
      const last = asObject(this.#parts.at(-1))
      const isText = part?.['type'] === 'text' && last?.['type'] === 'text'
      const text = `${asText(last?.['text']) ?? ''}${asText(part?.['text']) ?? ''}`
      if (isText) this.#parts[this.#parts.length - 1] = { ...last, ...part, text }
      else this.#parts.push(value)
    }
    return decodeContent(parts, '')
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('')
  }

  #addReasoning(name: string, value: JsonValue): void {
    const pieces = this.#reasoning.get(name)
    const added = Array.isArray(value) ? asList(value) : [value]
    if (pieces === undefined) this.#reasoning.set(name, [...added])
    else for (const piece of added) pieces.push(piece)
  }

  #addRare(delta: JsonObject, events: ModelEvent[]): void {
    const refusal = asText(delta['refusal'])
    if (refusal) {
      this.#refusal.push(refusal)
      events.push({ type: 'text', key: 'refusal', delta: refusal })
    }
    const audio = asObject(delta['audio'])
    if (audio !== undefined) this.#audio = joinAudio(this.#audio, audio)
    const call = asObject(delta['function_call'])
    if (call !== undefined) {
      this.#function.name ||= asText(call['name']) ?? ''
      const piece = asText(call['arguments']) ?? ''
      this.#function.pieces.push(piece)
      const tool = this.#function.name
      if (piece !== '') events.push({ type: 'toolInput', key: 'function', tool, delta: piece })
    }
    for (const name in delta) {
      const value = delta[name]
      if (READ.has(name) || value === undefined || value === null) continue
      this.#others = { ...this.#others, [name]: merged(this.#others[name], value) }
    }
  }
}

function joined(pieces: readonly JsonValue[]): JsonValue {
  return pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : joinDetails(pieces)
}

/** Opaque members come in pieces too: a later one adds to an earlier one, two levels deep. */
function merged(before: JsonValue | undefined, value: JsonValue, levels = 2): JsonValue {
  const old = asObject(before)
  const added = asObject(value)
  if (old === undefined || added === undefined || levels === 0) return value
  const entries = Object.entries(added).map(([name, inner]) => [
    name,
    merged(old[name], inner, levels - 1),
  ])
  return { ...old, ...(Object.fromEntries(entries) as JsonObject) }
}

/** The sound itself is not kept: what goes back is its id, and what can be read is the transcript. */
function joinAudio(before: JsonObject | undefined, delta: JsonObject): JsonObject {
  const id = delta['id'] ?? before?.['id']
  const transcript = `${asText(before?.['transcript']) ?? ''}${asText(delta['transcript']) ?? ''}`
  return { ...(id !== undefined && { id }), transcript }
}
