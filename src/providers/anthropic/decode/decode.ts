import { BobbinError } from '../../../core/error/error.ts'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { assemble, type Ending } from '../../../model/events/assembler.ts'
import type { FinishReason } from '../../../model/events/finish-reason.ts'
import type { Finish, Usage } from '../../../model/events/model-event.ts'
import { HistoryBuilder } from '../../../model/wire/history-builder.ts'
import { providerData } from '../../../model/wire/provider-data.ts'
import type { DecodeContext, Decoding } from '../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../records/history-item.ts'
import { binderOf } from '../thinking/bound-thinking.ts'
import { withInputText } from '../wire/argument-text.ts'
import { decodeContent } from '../wire/content.ts'
import { failureOfBody } from '../wire/fail.ts'
import { API, keyOf, type MessagesResponse, PROVIDER } from '../wire/wire.ts'
import { type Reading, readContent } from './decode-block.ts'

/** Decodes a response, a block, a list of blocks or messages, or a request. */
export function decodePayload(payload: unknown, context: DecodeContext): Decoding {
  const { source } = context
  return decodeValue(source === undefined ? payload : withInputText(payload, source), context)
}

function decodeValue(payload: unknown, context: DecodeContext): Decoding {
  if (typeof payload === 'string') return history([{ role: 'user', content: payload }], context)
  if (Array.isArray(payload)) return decodeList(payload, context)
  const object = asObject(payload)
  if (object === undefined) throw unknownPayload()
  if (object['messages'] !== undefined) return history(asList(object['messages']), context, object)
  switch (object['type']) {
    case 'message':
      return object['stop_reason'] === undefined
        ? history([object], context, object)
        : decodeResponse(object, context)
    case 'message_start':
      return decodeValue(object['message'], context)
    case 'content_block_start':
      return decodeValue(object['content_block'], context)
    case 'error':
      throw failureOfBody(object)
    default:
      if (object['type'] === undefined && object['role'] === undefined) throw unknownPayload()
      return decodeList([object], context)
  }
}

function decodeList(list: readonly JsonValue[], context: DecodeContext): Decoding {
  const isHistory = list.some((entry) => asObject(entry)?.['role'] !== undefined)
  return history(isHistory ? list : [{ role: 'assistant', content: list }], context)
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
  let hasOpenCall = false
  for (const value of messages) {
    const message = asObject(value)
    const role = message?.['role']
    if (role === 'assistant') {
      // The provider joins neighbouring messages of the assistant: what follows a call is the same step.
      if (!hasOpenCall) builder.startResponse(asText(message?.['id']))
      hasOpenCall ||= holdsCall(message?.['content'])
      readContent(message?.['content'], 'assistant', reading)
    } else {
      builder.endResponse()
      hasOpenCall = false
      if (role === 'user') readContent(message?.['content'], 'user', reading)
      else if (message !== undefined && role === 'system') readSystem(message, reading)
      else builder.raw(value, 'user')
    }
  }
  return { items: withContainer(builder.items, request['container'], context) }
}

/**
 * A message of the operator inside the conversation. Changes of tools and of settings mean nothing to other providers: they
 * get its texts, and this one gets the message as it came.
 */
function readSystem(message: JsonObject, { builder, key }: Reading): void {
  const { role: _, content, ...members } = message
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content)
  const texts = blocks.filter((block) => asObject(block)?.['type'] === 'text')
  const isPlain = texts.length === blocks.length && Object.keys(members).length === 0
  if (texts.length === 0) builder.raw(message, 'user')
  else builder.message('system', decodeContent(texts, key), isPlain ? undefined : { message })
}

function holdsCall(content: JsonValue | undefined): boolean {
  return asList(content).some((block) => asObject(block)?.['type'] === 'tool_use')
}

/** A response that ended. */
export function decodeResponse(
  response: MessagesResponse,
  context: DecodeContext,
): { readonly items: Finish['items']; readonly finish: Finish } {
  const items = readResponse(response, context)
  const finish = assemble(items, endingOf(response))
  return { items: finish.items, finish }
}

/** The items of a response, whether or not it ended. */
export function readResponse(
  response: MessagesResponse,
  context: DecodeContext,
): readonly HistoryItem[] {
  const binder = context.body && binderOf(context.body)
  const reading = { ...startReading(context), ...(binder && { binder }) }
  reading.builder.startResponse(asText(response.id))
  readContent(response.content, 'assistant', reading)
  return withContainer(reading.builder.items, response.container, context)
}

function startReading(context: DecodeContext): Reading {
  const builder = new HistoryBuilder(API, PROVIDER, context)
  return { builder, key: keyOf(context), owners: new Map() }
}

/** The container is state of the whole conversation: its last item of a response carries it. */
function withContainer(
  items: readonly HistoryItem[],
  value: JsonValue | undefined,
  context: DecodeContext,
): readonly HistoryItem[] {
  const container = typeof value === 'string' ? { id: value } : asObject(value)
  if (asText(container?.['id']) === undefined) return items
  const at = items.findLastIndex((item) => item.type !== 'raw' && item.response !== undefined)
  return items.map((item, index) => {
    if (index !== at || item.type === 'raw') return item
    const data = { ...asObject(item.providerData?.data), container: container as JsonObject }
    return { ...item, providerData: providerData(keyOf(context), data) }
  })
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tools',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'pause',
  compaction: 'pause',
  refusal: 'refusal',
}

function endingOf(response: MessagesResponse): Ending {
  const rawReason = asText(response.stop_reason)
  const responseId = asText(response.id)
  const usage = usageOf(response.usage)
  const miss = asObject(asObject(response.diagnostics)?.['cache_miss_reason'])
  const known = rawReason !== undefined && Object.hasOwn(REASONS, rawReason)
  return {
    reason: (known && REASONS[rawReason]) || 'other',
    ...(rawReason !== undefined && { rawReason }),
    ...(responseId !== undefined && { responseId }),
    ...(usage !== undefined && { usage }),
    ...(miss !== undefined && { cacheMiss: miss }),
  }
}

/** Here `input_tokens` leaves out what the cache took or gave; elsewhere it counts everything. */
function usageOf(value: JsonValue | undefined): Usage | undefined {
  const usage = asObject(value)
  const count = (number: JsonValue | undefined) => (typeof number === 'number' ? number : undefined)
  const input = count(usage?.['input_tokens'])
  const outputTokens = count(usage?.['output_tokens'])
  if (input === undefined || outputTokens === undefined) return undefined
  const cached = count(usage?.['cache_read_input_tokens'])
  const written = count(usage?.['cache_creation_input_tokens'])
  const thinking = count(asObject(usage?.['output_tokens_details'])?.['thinking_tokens'])
  return {
    inputTokens: input + (cached ?? 0) + (written ?? 0),
    outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(thinking !== undefined && { reasoningTokens: thinking }),
  }
}

function unknownPayload(): BobbinError {
  const message = `The payload is nothing that \`${API}\` has: pass a message, a block, a list of either, or a request with \`messages\`.`
  return new BobbinError('E_UNKNOWN_PAYLOAD', message, { api: API })
}
