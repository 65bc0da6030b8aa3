import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { withoutRunnerCalls } from '../../../../model/events/assembler.ts'
import type { Finish, ModelEvent, UnfinishedCall } from '../../../../model/events/model-event.ts'
import { broken } from '../../../../model/sse.ts'
import { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import type { DecodeContext, StreamDecoder } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../../records/history-item.ts'
import { failureOfBody } from '../../fail.ts'
import { asItem, type ResponsesEvent } from '../wire/wire.ts'
import { decodeResponse, readItem } from './decode.ts'
import type { ResponsesDialect } from './dialect.ts'

/**
 * One output item so far. It is keyed by `output_index`: some gateways change `item_id` on
 * every event, and `call_id` may differ between the first and the last sight of an item.
 */
interface Slot {
  readonly key: string
  tool?: string
  added?: JsonObject
  done?: JsonObject
  readonly text: string[]
  readonly input: string[]
}

const NOTHING: readonly ModelEvent[] = []

/** The reducer over the events of one streamed response. Items are final when `done` says so. */
export function decodeStream(dialect: ResponsesDialect, context: DecodeContext): StreamDecoder {
  const slots = new Map<number, Slot>()
  let responseId: string | undefined
  let finish: Finish | undefined

  function push(value: unknown): readonly ModelEvent[] {
    const event = asObject(value) as ResponsesEvent | undefined
    if (finish !== undefined) return NOTHING
    switch (event?.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return delta('text', event, 'text')
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return delta('thought', event, 'text')
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
      case 'response.apply_patch_call_operation_diff.delta':
      case 'response.shell_call_command.delta':
        return delta('toolInput', event, 'input')
      case 'response.output_item.added':
        slotOf(event).added = itemOf(event)
        return NOTHING
      case 'response.output_item.done':
        slotOf(event).done = itemOf(event)
        return NOTHING
      case 'response.created':
        responseId = asText(asObject(event.response)?.['id'])
        // Only a response in the background continues without this connection.
        if (responseId && asObject(event.response)?.['background'] === true) {
          context.onKept?.(responseId)
        }
        return NOTHING
      case 'response.completed':
      case 'response.incomplete':
        finish = finishWith(asObject(event.response) ?? {}, event.type)
        return [finish]
      case 'response.failed':
        throw failureOfBody(dialect.api, asObject(event.response)?.['error'], {
          holder: event.response,
        })
      case 'error':
        throw failureOfBody(dialect.api, event.error ?? event, { holder: event })
      case undefined:
        throw broken('unexpected-event', 'an event has no type')
      default:
        return NOTHING
    }
  }

  function delta(
    type: 'text' | 'thought' | 'toolInput',
    event: ResponsesEvent,
    buffer: 'text' | 'input',
  ): readonly ModelEvent[] {
    const piece = asText(event.delta)
    if (piece === undefined || piece === '') return NOTHING
    const slot = slotOf(event)
    slot[buffer].push(piece)
    const part = asIndex(event.content_index ?? event.summary_index)
    const key = part === 0 ? slot.key : `${slot.key}.${part}`
    if (type !== 'toolInput') return [{ type, key, delta: piece }]
    slot.tool ??= asText(slot.added?.['name']) ?? toolOf(slot)
    return [{ type, key, tool: slot.tool, delta: piece }]
  }

  function slotOf(event: ResponsesEvent): Slot {
    const index = event.output_index
    if (typeof index !== 'number' || !Number.isSafeInteger(index)) {
      throw broken('unexpected-event', `\`${asText(event.type)}\` has no \`output_index\``)
    }
    let slot = slots.get(index)
    if (slot === undefined) slots.set(index, (slot = { key: `${index}`, text: [], input: [] }))
    return slot
  }

  // Some servers send the whole output again with the last event and some send an empty list: an item
  // counts if either holds it whole. An item that only began is never a call.
  function finishWith(response: JsonObject, terminal: string): Finish {
    const repeated = asList(response['output'])
    const indexes = [...new Set([...slots.keys(), ...repeated.keys()])].sort((a, b) => a - b)
    const output: JsonValue[] = []
    const unfinished: UnfinishedCall[] = []
    for (const index of indexes) {
      const slot = slots.get(index)
      const whole = slot?.done ?? repeated[index]
      if (whole !== undefined) output.push(whole)
      else if (slot !== undefined && slot.input.length > 0) unfinished.push(unfinishedCall(slot))
    }
    const status = terminal === 'response.completed' ? 'completed' : 'incomplete'
    const decoded = decodeResponse(
      { id: responseId ?? null, ...response, status: response['status'] ?? status, output },
      dialect,
      context,
    )
    const told = decoded.finish
    return unfinished.length === 0
      ? told
      : { ...told, unfinished: [...told.unfinished, ...unfinished] }
  }

  function partial(): readonly HistoryItem[] {
    if (finish !== undefined) return finish.items
    const builder = new HistoryBuilder(dialect.api, dialect.provider, context)
    builder.startResponse(responseId)
    for (const [, slot] of [...slots].sort(([a], [b]) => a - b)) {
      const text = slot.text.join('')
      if (slot.done !== undefined) readItem(slot.done, builder, dialect, 'response')
      else if (text === '') continue
      else if (slot.added?.['type'] === 'reasoning') builder.thought(text)
      else builder.message('assistant', [{ type: 'text', text }])
    }
    return withoutRunnerCalls(builder.items)
  }

  return {
    push,
    partial,
    end: () => {
      if (finish === undefined) throw broken('cut', 'it ended before its last event')
      return NOTHING
    },
  }
}

function itemOf(event: ResponsesEvent): JsonObject {
  const item = asItem(event.item)
  if (item === undefined) {
    throw broken('unexpected-event', `\`${asText(event.type)}\` has no \`item\``)
  }
  return item
}

function asIndex(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0
}

function toolOf(slot: Slot): string {
  return (asText(slot.added?.['type']) ?? '').replace(/_call$/, '')
}

function unfinishedCall(slot: Slot): UnfinishedCall {
  const callId = asText(slot.added?.['call_id'])
  return {
    tool: asText(slot.added?.['name']) ?? toolOf(slot),
    ...(callId !== undefined && { callId }),
    rawArgs: slot.input.join(''),
  }
}
