import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { ModelEvent, UnfinishedCall } from '../../../model/events/model-event.ts'
import { asList, asObject, asText, asWord, without } from '../../../model/wire/wire-value.ts'
import { PartialArgs } from './partial-args.ts'

/** Text that came in pieces, and nothing else: only such pieces may be joined. */
interface TextSlot {
  readonly kind: 'text'
  readonly isThought: boolean
  readonly pieces: string[]
}

/** A call whose arguments come in pieces. */
interface CallSlot {
  readonly kind: 'call'
  readonly key: string
  readonly tool: string
  readonly args: PartialArgs
  id: string | undefined
  /** Arguments that came whole after all. */
  whole: JsonValue | undefined
  /** What stands beside the call on its part: the signature, above all. */
  extras: JsonObject
  isDone: boolean
}

type Slot = TextSlot | CallSlot | { readonly kind: 'whole'; readonly part: JsonValue }

const NOTHING: readonly ModelEvent[] = []

/** Collects the parts of one response, however many chunks bring them. */
export class PartCollector {
  readonly #slots: Slot[] = []
  /** Calls that wait for more pieces, the latest last. */
  #open: readonly CallSlot[] = []

  /** Takes a part and gives what of it can be shown. */
  add(value: JsonValue): readonly ModelEvent[] {
    const part = asObject(value)
    if (part === undefined) return this.#whole(value)
    if (isPlainText(part)) return this.#text(part['text'] as string, part['thought'] === true)
    const call = asObject(part['functionCall'])
    if (call !== undefined) return this.#call(part, call)
    this.#whole(part)
    const text = asWord(part['text'])
    if (text === undefined) return NOTHING
    const type = part['thought'] === true ? 'thought' : 'text'
    return [{ type, key: this.#key(), delta: text }]
  }

  /** The parts as a whole response would hold them, without calls that did not end. */
  parts(): readonly JsonValue[] {
    return this.#slots.flatMap((slot) => {
      if (slot.kind === 'whole') return [slot.part]
      if (slot.kind === 'call') return isCut(slot) ? [] : [partOf(slot)]
      return [{ text: slot.pieces.join(''), ...(slot.isThought && { thought: true }) }]
    })
  }

  /** Calls that were begun and did not end, or ended within an argument. */
  unfinished(): readonly UnfinishedCall[] {
    return this.#slots.flatMap((slot) => {
      if (slot.kind !== 'call' || !isCut(slot)) return []
      const { tool, id, args } = slot
      return [{ tool, ...(id !== undefined && { callId: id }), rawArgs: args.text }]
    })
  }

  #text(text: string, isThought: boolean): readonly ModelEvent[] {
    if (text === '') return NOTHING
    const last = this.#slots.at(-1)
    if (last?.kind === 'text' && last.isThought === isThought) last.pieces.push(text)
    else this.#slots.push({ kind: 'text', isThought, pieces: [text] })
    return [{ type: isThought ? 'thought' : 'text', key: this.#key(), delta: text }]
  }

  #whole(part: JsonValue): readonly ModelEvent[] {
    this.#slots.push({ kind: 'whole', part })
    return NOTHING
  }

  #call(part: JsonObject, call: JsonObject): readonly ModelEvent[] {
    const open = this.#openSlot(call)
    if (open !== undefined) return this.#continue(open, part, call)
    const isPiece = call['willContinue'] === true || call['partialArgs'] !== undefined
    if (!isPiece) {
      // The end of a call that has ended already. Without a name it is not a call.
      return Object.keys(call).length === 0 ? NOTHING : this.#whole(part)
    }
    const slot: CallSlot = {
      kind: 'call',
      key: String(this.#slots.length),
      tool: asText(call['name']) ?? '',
      args: new PartialArgs(),
      id: undefined,
      whole: undefined,
      extras: {},
      isDone: false,
    }
    this.#slots.push(slot)
    this.#open = [...this.#open, slot]
    return this.#continue(slot, part, call)
  }

  /**
   * The call that a piece belongs to: the one with its id, else the last one that waits for more. A
   * name begins a new call, unless it is that one's own with more arguments.
   */
  #openSlot(call: JsonObject): CallSlot | undefined {
    const id = asWord(call['id'])
    const name = asWord(call['name'])
    const named = id === undefined ? undefined : this.#open.find((slot) => slot.id === id)
    if (named !== undefined) return named
    const last = this.#open.at(-1)
    if (last === undefined || (id !== undefined && last.id !== undefined)) return undefined
    const isRepeated = name === last.tool && call['partialArgs'] !== undefined
    return name === undefined || isRepeated ? last : undefined
  }

  #continue(slot: CallSlot, part: JsonObject, call: JsonObject): readonly ModelEvent[] {
    slot.id ??= asWord(call['id'])
    if (Object.keys(part).length > 1) {
      slot.extras = { ...without(part, 'functionCall'), ...slot.extras }
    }
    const whole = call['args']
    if (hasMembers(whole)) slot.whole = whole
    let delta = asList(call['partialArgs'])
      .map((piece) => slot.args.push(piece))
      .join('')
    if (call['willContinue'] !== true) {
      delta += slot.args.close()
      slot.isDone = true
      this.#open = this.#open.filter((other) => other !== slot)
    }
    if (delta === '') return NOTHING
    return [{ type: 'toolInput', key: slot.key, tool: slot.tool, delta }]
  }

  #key(): string {
    return String(this.#slots.length - 1)
  }
}

function isCut(slot: CallSlot): boolean {
  return !slot.isDone || slot.args.isOpen
}

function partOf({ tool, id, whole, args, extras }: CallSlot): JsonObject {
  const received = whole ?? args.text
  const functionCall = { name: tool, ...(id !== undefined && { id }), args: received }
  return { functionCall, ...extras }
}

function hasMembers(value: JsonValue | undefined): value is JsonValue {
  const object = asObject(value)
  return object === undefined ? asWord(value) !== undefined : Object.keys(object).length > 0
}

/** Nothing but text: a signature, or whatever else stands beside it, ties the text to its own part. */
function isPlainText(part: JsonObject): boolean {
  if (typeof part['text'] !== 'string') return false
  for (const name in part) if (name !== 'text' && name !== 'thought') return false
  return true
}
