import { BobbinError } from '../../../../core/error/error.ts'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import type { DecodeContext, Decoding } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import type { ChatCall, ChatResponse } from '../wire/wire.ts'
import { MESSAGE_READERS, readCall } from './decode-message.ts'
import { API, decodeResponse, failureIn, firstChoice, PROVIDER } from './decode-response.ts'
import { decodeStream } from './decode-stream.ts'

/** Decodes a response, a chunk, a message, a call, a list of messages or calls, or a request. */
export function decodePayload(payload: unknown, context: DecodeContext): Decoding {
  if (Array.isArray(payload)) return decodeList(payload, context)
  const object = asObject(payload)
  if (object === undefined) throw unknownPayload()
  if (Array.isArray(object['choices'])) return decodeChoices(object, context)
  if (Array.isArray(object['messages'])) return decodeList(object['messages'], context)
  if (object['role'] !== undefined || isCall(object)) return decodeList([object], context)
  const failure = failureIn(object)
  throw failure ?? unknownPayload()
}

function decodeChoices(response: ChatResponse, context: DecodeContext): Decoding {
  if (firstChoice(response)?.delta === undefined) {
    const finish = decodeResponse(response, context)
    return { items: finish.items, finish }
  }
  const decoder = decodeStream(context)
  decoder.push(response)
  return { items: decoder.partial() }
}

function decodeList(entries: readonly JsonValue[], context: DecodeContext): Decoding {
  const builder = new HistoryBuilder(API, PROVIDER, context)
  for (const entry of entries) {
    const object = asObject(entry)
    const role = asText(object?.['role'])
    if (object !== undefined && role === undefined && isCall(object)) {
      if (!builder.inResponse) builder.startResponse()
      readCall(object, builder)
      continue
    }
    const reader =
      role !== undefined && Object.hasOwn(MESSAGE_READERS, role) ? MESSAGE_READERS[role] : undefined
    if (object !== undefined && reader !== undefined) {
      reader(object, builder, API)
    } else {
      builder.endResponse()
      builder.raw(entry, 'user')
    }
  }
  return { items: builder.items }
}

function isCall(object: JsonObject): boolean {
  const { function: called, custom } = object as ChatCall
  return (
    asText(asObject(called ?? custom)?.['name']) !== undefined && !asList(object['tools']).length
  )
}

function unknownPayload(): BobbinError {
  const message = `The payload is nothing that \`${API}\` has: pass a response, a message, a call, a list of messages, or a request with \`messages\`.`
  return new BobbinError('E_UNKNOWN_PAYLOAD', message, { api: API })
}
