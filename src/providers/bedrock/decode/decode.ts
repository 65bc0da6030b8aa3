import type { StopReason } from '@aws-sdk/client-bedrock-runtime'
import { BobbinError } from '../../../core/error/error.ts'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { assemble, type Ending } from '../../../model/events/assembler.ts'
import type { FinishReason } from '../../../model/events/finish-reason.ts'
import type { Finish, Usage } from '../../../model/events/model-event.ts'
import { HistoryBuilder } from '../../../model/wire/history-builder.ts'
import type { DecodeContext, Decoding } from '../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../records/history-item.ts'
import { withInputText } from '../wire/argument-text.ts'
import { decodeContent } from '../wire/content.ts'
import { failureInside } from '../wire/fail.ts'
import { binderFor } from '../wire/thinking.ts'
import { API, asJson, type ConverseReply, isTag, keyOf, PROVIDER, taggedOf } from '../wire/wire.ts'
import { readContent } from './decode-block.ts'

/** Decodes a response, a block, a list of blocks or messages, or a request. */
export function decodePayload(payload: unknown, context: DecodeContext): Decoding {
  const { source } = context
  return decodeValue(source === undefined ? payload : withInputText(payload, source), context)
}

function decodeValue(payload: unknown, context: DecodeContext): Decoding {
  if (typeof payload === 'string') {
    return history([{ role: 'user', content: [{ text: payload }] }], context)
  }
  if (Array.isArray(payload)) return decodeList(payload as readonly JsonValue[], context)
  const object = asObject(payload)
  if (object === undefined) throw unknownPayload()
  if (object['messages'] !== undefined) return history(asList(object['messages']), context, object)
  const output = asObject(object['output'])
  const message = asObject(output?.['message'])
  if (output !== undefined) {
    if (object['stopReason'] === undefined) return history(message ? [message] : [], context)
    const { stopReason = null, usage } = object
    const content = message?.['content']
    return decodeResponse(
      {
        stopReason,
        ...(content !== undefined && { content }),
        ...(usage !== undefined && { usage }),
      },
      context,
    )
  }
  if (object['role'] !== undefined) return history([object], context)
  const failure = failureInside(object)
  if (failure !== undefined) throw failure
  const started = asObject(object['contentBlockStart'])?.['start']
  if (started !== undefined) return decodeValue(started, context)
  const tag = taggedOf(object)?.tag
  if (tag === undefined || (!isTag(tag) && object['$unknown'] === undefined)) throw unknownPayload()
  return decodeList([object], context)
}

function decodeList(list: readonly JsonValue[], context: DecodeContext): Decoding {
  const isHistory = list.some((entry) => asObject(entry)?.['role'] !== undefined)
  return history(isHistory ? list : [{ role: 'assistant', content: list as JsonValue[] }], context)
}

function history(
  messages: readonly JsonValue[],
  context: DecodeContext,
  request: JsonObject = {},
): Decoding {
  const reading = startReading(context)
  const { builder, key } = reading
  const system = decodeContent(request['system'], key)
  if (system.length > 0) builder.message('system', system)
  for (const value of messages) {
    const message = asObject(value)
    const role = message?.['role']
    const content = message?.['content']
    if (role === 'assistant') {
      builder.startResponse()
      readContent(content, 'assistant', reading)
    } else {
      builder.endResponse()
      if (role === 'user') readContent(content, 'user', reading)
      else if (role === 'system') builder.message('system', decodeContent(content, key))
      else builder.raw(asJson(value), 'user')
    }
  }
  return { items: builder.items }
}

/** A response that ended. */
export function decodeResponse(
  response: ConverseReply,
  context: DecodeContext,
): { readonly items: Finish['items']; readonly finish: Finish } {
  const items = readResponse(response, context)
  const finish = assemble(items, endingOf(response, items))
  return { items: finish.items, finish }
}

/** The items of a response, whether or not it ended. */
export function readResponse(
  response: ConverseReply,
  context: DecodeContext,
): readonly HistoryItem[] {
  const binder = context.body && binderFor(context.body)
  const reading = { ...startReading(context), ...(binder && { binder }) }
  reading.builder.startResponse()
  readContent(response.content, 'assistant', reading)
  return reading.builder.items
}

function startReading(context: DecodeContext) {
  const builder = new HistoryBuilder(API, PROVIDER, context)
  return { builder, key: keyOf(context), served: new Set<string>() }
}

const REASONS: Readonly<Record<StopReason, FinishReason>> = {
  content_filtered: 'filter',
  end_turn: 'stop',
  guardrail_intervened: 'filter',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  stop_sequence: 'stop',
  tool_use: 'tools',
}

/** Words of Claude's own API that the client does not list. */
const OTHER_REASONS: Readonly<Record<string, FinishReason>> = {
  pause_turn: 'pause',
  refusal: 'refusal',
}

function endingOf(response: ConverseReply, items: readonly HistoryItem[]): Ending {
  const rawReason = asText(response.stopReason)
  const usage = usageOf(response.usage)
  const known: Readonly<Record<string, FinishReason>> = { ...OTHER_REASONS, ...REASONS }
  return {
    reason:
      (rawReason !== undefined && Object.hasOwn(known, rawReason) && known[rawReason]) || 'other',
    ...(rawReason !== undefined && { rawReason }),
    ...(usage !== undefined && { usage }),
    ...(isGrounded(response.content, items) && { grounded: true }),
  }
}

/** Pages were read for the answer, and no call tells which. */
function isGrounded(content: JsonValue | undefined, items: readonly HistoryItem[]): boolean {
  if (items.some((item) => 'executedBy' in item && item.executedBy === 'provider')) return false
  return asList(content).some((value) => {
    const cited = asObject(asObject(value)?.['citationsContent'])
    return asList(cited?.['citations']).some(
      (citation) => asObject(asObject(citation)?.['location'])?.['web'] !== undefined,
    )
  })
}

/** Here `inputTokens` leaves out what the cache took or gave; elsewhere it counts everything. */
function usageOf(value: JsonValue | undefined): Usage | undefined {
  const usage = asObject(value)
  const count = (name: string) => {
    const number = usage?.[name]
    return typeof number === 'number' ? number : undefined
  }
  const input = count('inputTokens')
  const outputTokens = count('outputTokens')
  if (input === undefined || outputTokens === undefined) return undefined
  const cached = count('cacheReadInputTokens')
  const written = count('cacheWriteInputTokens')
  return {
    inputTokens: input + (cached ?? 0) + (written ?? 0),
    outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
  }
}

function unknownPayload(): BobbinError {
  const message = `The payload is nothing that \`${API}\` has: pass a response, a message, a block, a list of either, or a request with \`messages\`.`
  return new BobbinError('E_UNKNOWN_PAYLOAD', message, { api: API })
}
