import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { permitsTools } from '../../../../model/events/finish-reason.ts'
import type { Finish, ModelEvent } from '../../../../model/events/model-event.ts'
import { broken } from '../../../../model/sse.ts'
import { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import type { DecodeContext, StreamDecoder } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../../records/history-item.ts'
import { type ChatCall, type ChatChoice, type ChatResponse, isEmptyCall } from '../wire/wire.ts'
import { CallPieces } from './call-pieces.ts'
import { readAssistant } from './decode-message.ts'
import {
  API,
  decodeResponse,
  failureIn,
  firstChoice,
  PROVIDER,
  reasonOf,
} from './decode-response.ts'
import { MessagePieces } from './message-pieces.ts'

const NOTHING: readonly ModelEvent[] = []

/**
 * The reducer over the chunks of one streamed response. It adds up the message that a whole response
 * would hold. `finish_reason` is the terminal word, but token counts may follow it, and a piece of a
 * call that follows it means that the order is broken: `finish` waits for the end of the stream.
 */
export function decodeStream(context: DecodeContext): StreamDecoder {
  const message = new MessagePieces()
  const calls = new CallPieces()
  let responseId: JsonValue | undefined
  let finishReason: JsonValue | undefined
  let usage: JsonValue | undefined
  let sources: JsonValue | undefined
  let finish: Finish | undefined
  let answer: number | undefined

  function push(value: unknown): readonly ModelEvent[] {
    if (finish !== undefined) return NOTHING
    // The word that closes a stream reaches us only where a list of events was recorded with it.
    if (value === '[DONE]') return end()
    const chunk: ChatResponse | undefined = asObject(value)
    if (chunk === undefined) throw broken('unexpected-event', 'an event is not an object')
    if (chunk.id !== responseId) responseId ??= asText(chunk.id)
    if (chunk.usage !== undefined) usage = asObject(chunk.usage) ?? usage
    sources ??= chunk['citations'] ?? chunk['search_results']
    const choice = firstChoice(chunk)
    if (tellsFailure(chunk, choice))
      throw failureIn(chunk) ?? broken('unexpected-event', 'it failed')
    if (choice === undefined || !isSameAnswer(choice.index)) return NOTHING
    // A server that does not stream after all sends the message whole.
    const events = readDelta(asObject(choice.delta) ?? asObject(choice.message))
    const word = choice.finish_reason
    if (word !== undefined && word !== null) takeReason(word)
    return events
  }

  /** Pieces of a second answer must not get into the first. */
  function isSameAnswer(index: JsonValue | undefined): boolean {
    const at = typeof index === 'number' ? index : 0
    answer ??= at
    return at === answer
  }

  function takeReason(word: JsonValue): void {
    if (reasonOf(word) === undefined) return
    // The worse of two stands: a filter may strike after the response seemed to be over.
    if (finishReason === undefined || permitsTools(reasonOf(finishReason) ?? 'other')) {
      finishReason = word
    }
  }

  function readDelta(delta: JsonObject | undefined): readonly ModelEvent[] {
    if (delta === undefined) return NOTHING
    const events = message.add(delta)
    const pieces = asList(delta['tool_calls'])
    const hasCall = pieces.length > 0 || !isEmptyCall(asObject(delta['function_call']) ?? {})
    if (finishReason !== undefined && hasCall) {
      throw broken('unexpected-event', 'a call continues after the finish reason')
    }
    for (const piece of pieces) readPiece(asObject(piece) ?? {}, events)
    return events
  }

  function readPiece(piece: ChatCall, events: ModelEvent[]): void {
    const { slot, delta } = calls.add(piece)
    if (delta === '') return
    events.push({ type: 'toolInput', key: slot.key, tool: slot.tool, delta })
  }

  function end(): readonly ModelEvent[] {
    if (finish !== undefined) return NOTHING
    if (finishReason === undefined) throw broken('cut', 'it ended before its finish reason')
    const whole = { ...message.whole(), tool_calls: calls.calls() }
    const choices = [{ message: whole, finish_reason: finishReason }]
    const beside = sources === undefined ? {} : { citations: sources }
    finish = decodeResponse(
      { id: responseId ?? null, choices, usage: usage ?? null, ...beside },
      context,
    )
    return [finish]
  }

  function partial(): readonly HistoryItem[] {
    if (finish !== undefined) return finish.items
    const builder = new HistoryBuilder(API, PROVIDER, context)
    builder.startResponse(asText(responseId))
    readAssistant({ ...message.whole(), function_call: null }, builder, API)
    return builder.items
  }

  return { push, end, partial }
}

function tellsFailure(chunk: ChatResponse, choice: ChatChoice | undefined): boolean {
  return (chunk.error ?? choice?.error ?? null) !== null || chunk['object'] === 'error'
}
