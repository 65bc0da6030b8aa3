import { base64ToBytes, bytesToBase64 } from '../../../core/base64.ts'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { withoutRunnerCalls } from '../../../model/events/assembler.ts'
import type { Finish, ModelEvent } from '../../../model/events/model-event.ts'
import { broken } from '../../../model/sse.ts'
import type { DecodeContext, StreamDecoder } from '../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText, isJson } from '../../../model/wire/wire-value.ts'
import { failureInside } from '../wire/fail.ts'
import { asJson, type Block, bytesText, taggedOf } from '../wire/wire.ts'
import { decodeResponse, readResponse } from './decode.ts'
import { UNKNOWN } from './decode-block.ts'

/** One content block so far. A call counts only once it is closed. */
interface Slot {
  /** What it began with; texts and reasoning begin with their first piece. */
  readonly tag: string
  readonly start: JsonObject
  readonly text: string[]
  /** Base64, each piece by itself. */
  readonly bytes: string[]
  readonly parts: JsonValue[]
  signature?: string
  isOpen: boolean
}

const NOTHING: readonly ModelEvent[] = []

/** The reducer over the parsed events of one streamed response. */
export function decodeStream(context: DecodeContext): StreamDecoder {
  let isStarted = false
  let slots = new Map<number, Slot>()
  let attempts = 0
  let stop: JsonObject | undefined
  let metadata: JsonObject | undefined
  let finish: Finish | undefined

  function push(value: unknown): readonly ModelEvent[] {
    if (finish !== undefined) return NOTHING
    const event = asObject(value)
    if (event === undefined) throw broken('unexpected-event', 'an event is not an object')
    const delta = asObject(event['contentBlockDelta'])
    if (delta !== undefined) return addDelta(delta)
    const start = asObject(event['contentBlockStart'])
    if (start !== undefined) return startBlock(start)
    const stopped = asObject(event['contentBlockStop'])
    if (stopped !== undefined) return stopBlock(stopped)
    return pushFrame(event)
  }

  /** The events around the blocks. */
  function pushFrame(event: JsonObject): readonly ModelEvent[] {
    if (asObject(event['messageStart']) !== undefined) {
      // A second start is a retry by something in between: what the first attempt said is void.
      slots = new Map()
      stop = undefined
      isStarted = true
      attempts++
      return NOTHING
    }
    const failure = failureInside(event)
    if (failure !== undefined) throw failure
    stop ??= asObject(event['messageStop'])
    metadata ??= asObject(event['metadata'])
    if (stop !== undefined && !isStarted)
      throw unexpected('messageStop', 'came before `messageStart`')
    // The counts come last; a stream that ends without them is still whole.
    return stop !== undefined && metadata !== undefined ? settle(stop) : NOTHING
  }

  function startBlock(event: JsonObject): readonly ModelEvent[] {
    const index = indexOf(event, 'contentBlockStart')
    if (slots.has(index))
      throw unexpected('contentBlockStart', `starts block ${index} a second time`)
    const { tag, body } = taggedOf(event['start']) ?? { tag: 'text', body: null }
    slots.set(index, newSlot(tag, asObject(asJson(body)) ?? {}))
    return NOTHING
  }

  function stopBlock(event: JsonObject): readonly ModelEvent[] {
    const index = indexOf(event, 'contentBlockStop')
    const slot = slots.get(index)
    if (slot !== undefined && !slot.isOpen) {
      throw unexpected('contentBlockStop', `is of block ${index}, which is not open`)
    }
    // A block may be opened and closed without a word.
    if (slot !== undefined) slot.isOpen = false
    return NOTHING
  }

  function addDelta(event: JsonObject): readonly ModelEvent[] {
    const index = indexOf(event, 'contentBlockDelta')
    const delta = asObject(event['delta'])
    if (delta === undefined) return NOTHING
    const text = asText(delta['text'])
    if (text !== undefined) {
      if (text === '') return NOTHING
      openSlot(index, 'text').text.push(text)
      return [{ type: 'text', key: keyOf(index), delta: text }]
    }
    const use = asObject(delta['toolUse'])
    if (use !== undefined) return addInput(index, asText(use['input']))
    const reasoning = asObject(delta['reasoningContent'])
    if (reasoning !== undefined) return addReasoning(index, reasoning)
    addOther(index, delta)
    return NOTHING
  }

  function addInput(index: number, text: string | undefined): readonly ModelEvent[] {
    if (!text) return NOTHING
    const slot = slots.get(index)
    if (slot?.tag !== 'toolUse')
      throw unexpected('contentBlockDelta', `has input of no call (${index})`)
    if (!slot.isOpen) {
      // Seen after complete calls. Their arguments stay as they are.
      if (isJson(slot.text.join(''))) return NOTHING
      throw unexpected('contentBlockDelta', `is of block ${index}, which is not open`)
    }
    slot.text.push(text)
    return [{ type: 'toolInput', key: keyOf(index), tool: toolOf(slot), delta: text }]
  }

  function addReasoning(index: number, reasoning: JsonObject): readonly ModelEvent[] {
    const slot = openSlot(index, 'reasoningContent')
    const signature = asText(reasoning['signature'])
    if (signature !== undefined) slot.signature = `${slot.signature ?? ''}${signature}`
    const redacted = bytesText(reasoning['redactedContent'])
    if (redacted !== undefined) slot.bytes.push(redacted)
    const text = asText(reasoning['text'])
    if (!text) return NOTHING
    slot.text.push(text)
    return [{ type: 'thought', key: keyOf(index), delta: text }]
  }

  /** Citations of a text, the output of a tool that the provider ran, a picture. */
  function addOther(index: number, delta: JsonObject): void {
    const { tag = '', body = null } = taggedOf(delta) ?? {}
    if (tag === 'citation') {
      openSlot(index, 'text').parts.push(asJson(body))
    } else if (tag === 'toolResult') {
      openSlot(index, tag).parts.push(...asList(asJson(body)))
    } else if (tag === 'image') {
      const bytes = bytesText(asObject(asObject(body)?.['source'])?.['bytes'])
      if (bytes !== undefined) openSlot(index, tag).bytes.push(bytes)
    }
  }

  /** The block that a piece belongs to; the first piece of a text opens its block. */
  function openSlot(index: number, tag: string): Slot {
    const known = slots.get(index)
    if (known?.isOpen && known.tag === tag) return known
    if (known !== undefined || tag === 'toolResult') {
      throw unexpected('contentBlockDelta', `is of block ${index}, which is not open`)
    }
    if (!isStarted) throw unexpected('contentBlockDelta', 'came before `messageStart`')
    const slot = newSlot(tag, {})
    slots.set(index, slot)
    return slot
  }

  function settle(ended: JsonObject): readonly ModelEvent[] {
    const ordered = inOrder()
    const unfinished = ordered.filter(isUnfinished)
    const content = ordered.filter((slot) => !isUnfinished(slot)).flatMap(blocksOf)
    const { stopReason = null } = ended
    const usage = metadata?.['usage']
    const decoded = decodeResponse(
      { content, stopReason, ...(usage !== undefined && { usage }) },
      context,
    ).finish
    finish = { ...decoded, unfinished: [...decoded.unfinished, ...unfinished.map(unfinishedCall)] }
    return [finish]
  }

  const inOrder = () => [...slots].sort(([a], [b]) => a - b).map(([, slot]) => slot)

  const keyOf = (index: number) => (attempts > 1 ? `${attempts}.${index}` : String(index))

  return {
    push,
    partial: () => {
      if (finish !== undefined) return finish.items
      const content = inOrder()
        .filter((slot) => !isUnfinished(slot))
        .flatMap(blocksOf)
      return withoutRunnerCalls(readResponse({ content }, context))
    },
    end: () => {
      if (finish !== undefined) return NOTHING
      if (stop === undefined) throw broken('cut', 'it ended before its last event')
      return settle(stop)
    },
  }
}

const isUnfinished = ({ tag, isOpen }: Slot) => isOpen && tag === 'toolUse'

function newSlot(tag: string, start: JsonObject): Slot {
  return { tag, start, text: [], bytes: [], parts: [], isOpen: true }
}

/** The block as a whole response would hold it; two if reasoning came in both of its forms. */
function blocksOf({ tag, start, text, bytes, parts, signature }: Slot): readonly Block[] {
  const said = text.join('')
  switch (tag) {
    case 'text':
      if (parts.length > 0)
        return [{ citationsContent: { content: [{ text: said }], citations: parts } }]
      return [{ text: said }]
    case 'reasoningContent': {
      const reasoningText = { text: said, ...(signature !== undefined && { signature }) }
      const isTold = said !== '' || signature !== undefined
      return [
        ...(isTold ? [{ reasoningContent: { reasoningText } }] : []),
        ...(bytes.length > 0 ? [{ reasoningContent: { redactedContent: joined(bytes) } }] : []),
      ]
    }
    case 'toolUse':
      // No piece at all means no arguments.
      return [{ toolUse: { ...start, input: said === '' ? {} : said } }]
    case 'toolResult':
      return [{ toolResult: { ...start, content: joinedTexts(parts) } }]
    case 'image':
      return [{ image: { ...start, source: { bytes: joined(bytes) } } }]
    default:
      return [{ [tag]: start }]
  }
}

/** Pieces of base64 as one. */
function joined(pieces: readonly string[]): string {
  if (pieces.length === 1) return pieces[0] as string
  try {
    const bytes = pieces.flatMap((piece) => [...base64ToBytes(piece)])
    return bytesToBase64(Uint8Array.from(bytes))
  } catch {
    // It is not base64 at all; the provider refuses it, or takes it as it came.
    return pieces.join('')
  }
}

/** Neighbouring texts are pieces of one. */
function joinedTexts(parts: readonly JsonValue[]): JsonValue[] {
  const whole: JsonValue[] = []
  for (const part of parts) {
    const text = asText(asObject(part)?.['text'])
    const before = asText(asObject(whole.at(-1))?.['text'])
    if (text !== undefined && before !== undefined)
      whole[whole.length - 1] = { text: before + text }
    else whole.push(part)
  }
  return whole
}

const toolOf = ({ start }: Slot) => asText(start['name']) || UNKNOWN

function unfinishedCall(slot: Slot) {
  const callId = asText(slot.start['toolUseId'])
  return {
    tool: toolOf(slot),
    ...(callId !== undefined && { callId }),
    rawArgs: slot.text.join(''),
  }
}

function indexOf(event: JsonObject, name: string): number {
  const index = event['contentBlockIndex']
  if (typeof index === 'number' && Number.isSafeInteger(index)) return index
  throw unexpected(name, 'has no `contentBlockIndex`')
}

function unexpected(name: string, what: string): Error {
  return broken('unexpected-event', `\`${name}\` ${what}`)
}
