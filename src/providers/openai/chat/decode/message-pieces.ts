import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import type { ModelEvent } from '../../../../model/events/model-event.ts'
import { partsText } from '../../../../model/wire/foreign-text.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import { decodeContent } from '../wire/content.ts'
import { joinDetails, textOf, thinkingText } from '../wire/reasoning.ts'

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

  /** Adds a delta and gives what of it can be shown. */
  add(delta: JsonObject): ModelEvent[] {
    const events: ModelEvent[] = []
    for (const name in delta) {
      const value = delta[name]
      if (value !== undefined && value !== null && value !== '') this.#take(name, value, events)
      else if (value === '' && name === 'reasoning_content') this.#pieces(name)
    }
    return events
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

  #take(name: string, value: JsonValue, events: ModelEvent[]): void {
    switch (name) {
      case 'role':
      case 'tool_calls':
        return
      case 'content':
        this.#addContent(value, events)
        return
      case 'reasoning_content':
      case 'reasoning':
      case 'reasoning_details':
        this.#addReasoning(name, value, events)
        return
      case 'refusal':
        if (typeof value !== 'string') return
        this.#refusal.push(value)
        events.push({ type: 'text', key: 'refusal', delta: value })
        return
      case 'audio':
        this.#audio = joinAudio(this.#audio, asObject(value) ?? {})
        return
      case 'function_call':
        this.#addFunctionCall(asObject(value) ?? {}, events)
        return
      default:
        this.#others = { ...this.#others, [name]: merged(this.#others[name], value) }
    }
  }

  #addContent(content: JsonValue, events: ModelEvent[]): void {
    if (typeof content === 'string') {
      this.#content.push(content)
      events.push({ type: 'text', key: 'text', delta: content })
      return
    }
    const parts = asList(content)
    for (const part of parts) this.#addPart(part)
    const thought = thinkingText(parts)
    if (thought !== '') events.push({ type: 'thought', key: 'thought', delta: thought })
    const text = partsText(decodeContent(parts, ''))
    if (text !== '') events.push({ type: 'text', key: 'text', delta: text })
  }

  #addPart(value: JsonValue): void {
    const part = asObject(value)
    const last = asObject(this.#parts.at(-1))
    const isText = part?.['type'] === 'text' && last?.['type'] === 'text'
    const text = `${asText(last?.['text']) ?? ''}${asText(part?.['text']) ?? ''}`
    if (isText) this.#parts[this.#parts.length - 1] = { ...last, ...part, text }
    else this.#parts.push(value)
  }

  #addReasoning(name: string, value: JsonValue, events: ModelEvent[]): void {
    const pieces = this.#pieces(name)
    for (const piece of Array.isArray(value) ? asList(value) : [value]) pieces.push(piece)
    // Several members of one delta may hold the same words: a reader sees them once.
    const thought = events.some(({ type }) => type === 'thought') ? '' : textOf(value)
    if (thought !== '') events.push({ type: 'thought', key: 'thought', delta: thought })
  }

  #pieces(name: string): JsonValue[] {
    const pieces = this.#reasoning.get(name) ?? []
    this.#reasoning.set(name, pieces)
    return pieces
  }

  #addFunctionCall(call: JsonObject, events: ModelEvent[]): void {
    this.#function.name ||= asText(call['name']) ?? ''
    const piece = asText(call['arguments']) ?? ''
    this.#function.pieces.push(piece)
    const tool = this.#function.name
    if (piece !== '') events.push({ type: 'toolInput', key: 'function', tool, delta: piece })
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
