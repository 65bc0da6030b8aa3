import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { withoutRunnerCalls } from '../../../model/events/assembler.ts'
import type { Finish, ModelEvent, UnfinishedCall } from '../../../model/events/model-event.ts'
import { broken } from '../../../model/sse.ts'
import type { DecodeContext, StreamDecoder } from '../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import { withInputText } from '../wire/argument-text.ts'
import { failureOfBody } from '../wire/fail.ts'
import { isCall } from '../wire/server-tools.ts'
import type { Block, MessagesEvent } from '../wire/wire.ts'
import { decodeResponse, readResponse } from './decode.ts'
import { toolOf } from './decode-block.ts'

/** One content block so far. It counts only once it is closed. */
interface Slot {
  readonly start: Block
  readonly text: string[]
  readonly input: string[]
  readonly citations: JsonValue[]
  /** Members that came apart from the text: a signature, the content of a compaction. */
  extras: JsonObject
  isOpen: boolean
}

const NOTHING: readonly ModelEvent[] = []

/** The reducer over the events of one streamed response. */
export function decodeStream(context: DecodeContext): StreamDecoder {
  let message: JsonObject | undefined
  let slots = new Map<number, Slot>()
  let attempts = 0
  let finish: Finish | undefined

  function push(value: unknown, source?: string): readonly ModelEvent[] {
    if (finish !== undefined) return NOTHING
    const event = asObject(value) as MessagesEvent | undefined
    switch (event?.type) {
      case 'content_block_delta':
        return delta(event)
      case 'content_block_start':
        return startBlock(texted(event, source))
      case 'content_block_stop':
        openSlot(event).isOpen = false
        return NOTHING
      case 'message_start':
        return startMessage(texted(event, source))
      case 'message_delta':
        changeMessage(event)
        return NOTHING
      case 'message_stop':
        finish = finishWith(started(event))
        return [finish]
      case 'error':
        throw failureOfBody(event)
      case undefined:
        throw broken('unexpected-event', 'an event has no type')
      default:
        return NOTHING
    }
  }

  /** A second start is a retry by something in between: what the first attempt said is void. */
  function startMessage(event: MessagesEvent): readonly ModelEvent[] {
    message = asObject(event.message) ?? {}
    slots = new Map()
    attempts++
    // Calls made from running code come whole in this event and in no other.
    return asList(message['content']).flatMap((block, index) => {
      const slot = newSlot(asObject(block) ?? {})
      slots.set(index, slot)
      slot.isOpen = false
      return firstWords(slot, index)
    })
  }

  function startBlock(event: MessagesEvent): readonly ModelEvent[] {
    started(event)
    const index = indexOf(event)
    const block = asObject(event.content_block)
    if (block === undefined) throw unexpected(event, 'has no `content_block`')
    if (slots.has(index)) throw unexpected(event, `starts block ${index} a second time`)
    const slot = newSlot(block)
    slots.set(index, slot)
    return firstWords(slot, index)
  }

  function delta(event: MessagesEvent): readonly ModelEvent[] {
    const slot = openSlot(event)
    const change = asObject(event.delta)
    const index = event.index as number
    switch (change?.['type']) {
      case 'text_delta':
        return piece('text', slot, index, asText(change['text']))
      case 'thinking_delta':
        return piece('thought', slot, index, asText(change['thinking']))
      case 'input_json_delta': {
        const text = asText(change['partial_json'])
        if (!text) return NOTHING
        slot.input.push(text)
        return [{ type: 'toolInput', key: keyOf(index), tool: toolOf(slot.start), delta: text }]
      }
      case 'signature_delta':
        slot.extras = { ...slot.extras, signature: change['signature'] ?? null }
        return NOTHING
      case 'citations_delta':
        slot.citations.push(change['citation'] ?? null)
        return NOTHING
      default:
        // Members of a block that we do not read; a call and its id are never changed this way.
        if (change !== undefined && !isCall(slot.start['type'])) {
          const { type: _, ...members } = change
          slot.extras = { ...slot.extras, ...members }
        }
        return NOTHING
    }
  }

  function piece(
    type: 'text' | 'thought',
    slot: Slot,
    index: number,
    text: string | undefined,
  ): readonly ModelEvent[] {
    if (text === undefined || text === '') return NOTHING
    slot.text.push(text)
    return [{ type, key: keyOf(index), delta: text }]
  }

  /** Content that a block already has when it starts is passed on as a delta. */
  function firstWords({ start }: Slot, index: number): readonly ModelEvent[] {
    const key = keyOf(index)
    const text = asText(start['type'] === 'text' ? start['text'] : undefined)
    const thinking = asText(start['type'] === 'thinking' ? start['thinking'] : undefined)
    if (text) return [{ type: 'text', key, delta: text }]
    return thinking ? [{ type: 'thought', key, delta: thinking }] : NOTHING
  }

  function changeMessage(event: MessagesEvent): void {
    const current = started(event)
    const change = asObject(event.delta) ?? {}
    const usage = { ...asObject(current['usage']), ...withoutNull(asObject(event.usage)) }
    message = { ...current, ...withoutNull(change), usage }
  }

  function finishWith(current: JsonObject): Finish {
    const ordered = [...slots].sort(([a], [b]) => a - b).map(([, slot]) => slot)
    const unfinished = ordered.filter((slot) => slot.isOpen && isCall(slot.start['type']))
    const content = ordered.filter((slot) => !unfinished.includes(slot)).map(blockOf)
    const decoded = decodeResponse({ stop_reason: null, ...current, content }, context).finish
    return { ...decoded, unfinished: [...decoded.unfinished, ...unfinished.map(unfinishedCall)] }
  }

  function started(event: MessagesEvent): JsonObject {
    if (message === undefined) throw unexpected(event, 'came before `message_start`')
    return message
  }

  function openSlot(event: MessagesEvent): Slot {
    const index = indexOf(event)
    const slot = slots.get(index)
    if (!slot?.isOpen) throw unexpected(event, `is of block ${index}, which is not open`)
    return slot
  }

  function keyOf(index: number): string {
    return attempts > 1 ? `${attempts}.${index}` : String(index)
  }

  return {
    push,
    partial: () => {
      if (finish !== undefined) return finish.items
      const ordered = [...slots].sort(([a], [b]) => a - b).map(([, slot]) => slot)
      const content = ordered
        .filter((slot) => !(slot.isOpen && isCall(slot.start['type'])))
        .map(blockOf)
      return withoutRunnerCalls(readResponse({ ...message, content }, context))
    },
    end: () => {
      if (finish === undefined) throw broken('cut', 'it ended before its last event')
      return NOTHING
    },
  }
}

/** Calls that come whole have their arguments parsed by now; the source still has them as sent. */
function texted(event: MessagesEvent, source: string | undefined): MessagesEvent {
  return source === undefined ? event : (withInputText(event, source) as MessagesEvent)
}

function newSlot(start: Block): Slot {
  return { start, text: [], input: [], citations: [], extras: {}, isOpen: true }
}

/** The block as a whole response would hold it. */
function blockOf({ start, text, input, citations, extras }: Slot): Block {
  const said = text.join('')
  const cited = [...asList(start['citations']), ...citations]
  return {
    ...start,
    ...(start['type'] === 'text' && { text: `${asText(start['text']) ?? ''}${said}` }),
    ...(start['type'] === 'thinking' && { thinking: `${asText(start['thinking']) ?? ''}${said}` }),
    ...(cited.length > 0 && { citations: cited }),
    // No piece at all, or only empty ones: the arguments are what the block began with.
    ...(input.length > 0 && { input: input.join('') }),
    ...extras,
  }
}

function unfinishedCall(slot: Slot): UnfinishedCall {
  const callId = asText(slot.start['id'])
  const rawArgs = slot.input.join('')
  return { tool: toolOf(slot.start), ...(callId !== undefined && { callId }), rawArgs }
}

function indexOf(event: MessagesEvent): number {
  const { index } = event
  if (typeof index === 'number' && Number.isSafeInteger(index)) return index
  throw unexpected(event, 'has no `index`')
}

function unexpected(event: MessagesEvent, what: string): Error {
  return broken('unexpected-event', `\`${asText(event.type) ?? ''}\` ${what}`)
}

function withoutNull(value: JsonObject | undefined): JsonObject {
  const members = Object.entries(value ?? {}).filter(([, member]) => member !== null)
  return Object.fromEntries(members)
}
