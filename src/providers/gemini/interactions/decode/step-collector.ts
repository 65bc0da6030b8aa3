import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import type { ModelEvent, UnfinishedCall } from '../../../../model/events/model-event.ts'
import { asList, asObject, asText, asWord, without } from '../../../../model/wire/wire-value.ts'
import { plainText } from '../wire/join-steps.ts'
import { typeOf, type WireStep } from '../wire/wire.ts'
import { spelledStep } from './decode-step.ts'

/** One step so far. */
interface Slot {
  readonly key: string
  readonly type: string
  readonly step: WireStep
  /** Blocks of content, or of a thought's summary; the pieces of a text are joined when the step is read. */
  readonly blocks: (JsonObject | TextBlock)[]
  /** The text of the arguments. */
  readonly input: string[]
  /** Members that deltas brought. */
  added: JsonObject
  isStopped: boolean
}

interface TextBlock {
  readonly pieces: string[]
  annotations?: readonly JsonValue[]
}

const NOTHING: readonly ModelEvent[] = []

/** Puts the steps of a streamed response together. */
export class StepCollector {
  readonly #slots: Slot[] = []
  #byIndex = new Map<number, Slot>()
  #isContinued = false
  #whole: readonly JsonValue[] = []

  start(index: number, given: JsonObject): readonly ModelEvent[] {
    const step = spelledStep(given)
    const slot = this.#continuedSlot(typeOf(step)) ?? this.#open(step)
    this.#byIndex.set(index, slot)
    const told: ModelEvent[] = []
    const { content, summary } = step
    for (const block of asList(slot.type === 'thought' ? summary : content)) {
      told.push(...this.#block(slot, asObject(block) ?? {}))
    }
    return told
  }

  stop(index: number): readonly ModelEvent[] {
    const slot = this.#byIndex.get(index)
    if (slot !== undefined) slot.isStopped = true
    return NOTHING
  }

  delta(index: number, value: JsonValue | undefined): readonly ModelEvent[] {
    const delta = asObject(value)
    if (delta === undefined) return NOTHING
    const { type } = delta
    const slot = this.#byIndex.get(index) ?? this.#unannounced(index, type)
    switch (type) {
      case 'text':
      case 'image':
      case 'audio':
      case 'video':
      case 'document':
        return this.#block(slot, delta)
      case 'thought_summary':
        return this.#block(slot, asObject(delta['content']) ?? {})
      case 'text_annotation_delta':
      case 'text_annotation': {
        const last = slot.blocks.findLast(isTextBlock)
        if (last !== undefined) {
          last.annotations = [...(last.annotations ?? []), ...asList(delta['annotations'])]
        }
        return NOTHING
      }
      case 'arguments_delta': {
        const piece = asText(delta['arguments']) ?? asText(delta['partial_arguments'])
        if (piece === undefined || piece === '') return NOTHING
        slot.input.push(piece)
        const tool = asText(slot.step.name) ?? slot.type
        return [{ type: 'toolInput', key: slot.key, tool, delta: piece }]
      }
      default:
        slot.added = merged(slot.added, without(delta, 'type'))
        return NOTHING
    }
  }

  /** What follows comes from the next request of the same response, which counts its steps anew. */
  nextRequest(): void {
    this.#byIndex = new Map()
    this.#isContinued = true
  }

  /** The last event may hold the steps; they count if nothing was streamed. */
  whole(steps: JsonValue | undefined): void {
    if (this.#slots.length === 0) this.#whole = asList(steps)
  }

  /** The steps as a whole response would hold them, without calls that did not end. */
  steps(): readonly JsonValue[] {
    if (this.#slots.length === 0) return this.#whole
    return this.#slots.filter((slot) => !isCut(slot)).map(stepOf)
  }

  /** The content so far: steps that ended, and the text of steps that did not. */
  said(): readonly JsonValue[] {
    const isWords = ({ type }: Slot) => type === 'model_output' || type === 'thought'
    return this.#slots.filter((slot) => slot.isStopped || isWords(slot)).map(stepOf)
  }

  /** Calls that were begun and did not end. */
  unfinished(): readonly UnfinishedCall[] {
    return this.#slots.filter(isCut).map(({ step, input }) => {
      const callId = asWord(step.id)
      const tool = asText(step.name) ?? ''
      return { tool, ...(callId !== undefined && { callId }), rawArgs: input.join('') }
    })
  }

  #open(step: WireStep): Slot {
    const slot: Slot = {
      key: String(this.#slots.length),
      type: typeOf(step),
      step,
      blocks: [],
      input: [],
      added: {},
      isStopped: false,
    }
    this.#slots.push(slot)
    return slot
  }

  /** Words that the request before began, and this one continues. */
  #continuedSlot(type: string): Slot | undefined {
    const isFirst = this.#isContinued
    this.#isContinued = false
    const last = this.#slots.at(-1)
    return isFirst && type === 'model_output' && last?.type === type ? last : undefined
  }

  #unannounced(index: number, type: JsonValue | undefined): Slot {
    const isThought = type === 'thought_summary' || type === 'thought_signature'
    const isWords = type === 'text' || type === 'text_annotation_delta'
    const slot = this.#open({
      type: isThought ? 'thought' : isWords ? 'model_output' : (asText(type) ?? ''),
    })
    this.#byIndex.set(index, slot)
    return slot
  }

  #block(slot: Slot, block: JsonObject): readonly ModelEvent[] {
    const text = asText(block['text'])
    if (text === undefined) {
      slot.blocks.push(block)
      return NOTHING
    }
    const last = slot.blocks.at(-1)
    const annotations = asList(block['annotations'])
    if (last !== undefined && isTextBlock(last) && last.annotations === undefined) {
      last.pieces.push(text)
      if (annotations.length > 0) last.annotations = annotations
    } else slot.blocks.push({ pieces: [text], ...(annotations.length > 0 && { annotations }) })
    if (text === '') return NOTHING
    return [{ type: slot.type === 'thought' ? 'thought' : 'text', key: slot.key, delta: text }]
  }
}

function isTextBlock(block: JsonObject | TextBlock): block is TextBlock {
  return Array.isArray((block as Partial<TextBlock>).pieces)
}

/** A function call whose end never came; nothing tells whether its arguments are whole. */
function isCut({ type, isStopped }: Slot): boolean {
  return type === 'function_call' && !isStopped
}

function stepOf({ type, step, blocks, input, added }: Slot): JsonObject {
  const content: JsonObject[] = blocks.map((block) => {
    if (!isTextBlock(block)) return block
    const { pieces, annotations } = block
    return { type: 'text', text: pieces.join(''), ...(annotations && { annotations }) }
  })
  const said = content.filter((block) => plainText(block) !== '')
  const whole: JsonObject = {
    ...step,
    ...added,
    ...(said.length > 0 && { [type === 'thought' ? 'summary' : 'content']: said }),
    ...(input.length > 0 && { arguments: input.join('') }),
  }
  // A stream announces a signature with an empty text, which a whole response leaves out.
  return whole['signature'] === '' ? without(whole, 'signature') : whole
}

/** Adds the members of a delta. Joins a `result` that comes in pieces; other members are replaced. */
function merged(before: JsonObject, delta: JsonObject): JsonObject {
  const entries = Object.entries(delta).map(([name, value]): [string, JsonValue] => {
    const earlier = before[name]
    if (name !== 'result' || earlier === undefined) return [name, value]
    if (typeof earlier === 'string' && typeof value === 'string') return [name, earlier + value]
    const isList = Array.isArray(earlier) && Array.isArray(value)
    if (isList) return [name, [...asList(earlier), ...asList(value)]]
    return [name, value]
  })
  return { ...before, ...Object.fromEntries(entries) }
}
