import { BobbinError } from '../../../core/error/error.ts'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { HistoryBuilder } from '../../../model/wire/history-builder.ts'
import type { DecodeContext, Decoding } from '../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText, asWord } from '../../../model/wire/wire-value.ts'
import { decodeParts } from '../wire/content.ts'
import { failureOfBody } from '../wire/fail.ts'
import { sourceTexts } from '../wire/source-texts.ts'
import { inCamelCase, partsOf, spelledPart } from '../wire/spelling.ts'
import { API, keyOf, kindOf, PROVIDER } from '../wire/wire.ts'
import { type Reading, readParts } from './decode-part.ts'
import { decodeStream } from './decode-stream.ts'
import { PartCollector } from './part-collector.ts'

/** Decodes a response or its chunks, a part, a list of parts or contents, or a request. */
export function decodePayload(payload: unknown, context: DecodeContext): Decoding {
  if (typeof payload === 'string') return history([payload], context)
  if (Array.isArray(payload)) return decodeList(payload, context)
  const given = asObject(payload)
  if (given === undefined) throw unknownPayload()
  const object = inCamelCase(given)
  if (asObject(object['error']) !== undefined) throw failureOfBody(object)
  if (isResponse(object)) return decodeResponses([object], context)
  if (object['contents'] !== undefined) {
    const contents = object['contents']
    return history(Array.isArray(contents) ? asList(contents) : [contents], context, object)
  }
  if (object['parts'] !== undefined) return history([object], context)
  if (kindOf(object) === undefined) throw unknownPayload()
  return history([{ parts: [object] }], context)
}

function decodeList(list: readonly JsonValue[], context: DecodeContext): Decoding {
  const objects = list.map((entry) => inCamelCase(asObject(entry) ?? {}))
  if (objects.some(isResponse)) {
    return decodeResponses(list, context)
  }
  const isHistory = objects.some((entry) => entry['parts'] !== undefined)
  return history(isHistory || list.length === 0 ? list : [{ parts: list }], context)
}

function isResponse(object: JsonObject): boolean {
  return object['candidates'] !== undefined || object['promptFeedback'] !== undefined
}

/** A whole response is a stream of one chunk; without `alt=sse` a stream is a list of chunks. */
function decodeResponses(chunks: readonly JsonValue[], context: DecodeContext): Decoding {
  const decoder = decodeStream(context)
  const sources = sourceTexts(chunks.length, context.source)
  const events = chunks.flatMap((chunk, index) => decoder.push(chunk, sources[index]))
  const { continuation } = decoder
  const finish = [...events, ...decoder.settle()].find((event) => event.type === 'finish')
  if (finish === undefined) return { items: decoder.partial() }
  return { items: finish.items, finish, ...(continuation !== undefined && { continuation }) }
}

function history(
  contents: readonly JsonValue[],
  context: DecodeContext,
  request: JsonObject = {},
): Decoding {
  const reading = startReading(context)
  const { builder, key } = reading
  const config = inCamelCase(asObject(request['config']) ?? {})
  const system = request['systemInstruction'] ?? config['systemInstruction']
  if (system !== undefined) builder.message('system', decodeParts(system, key))
  let before: readonly JsonValue[] = []
  for (const value of contents) {
    const content = asObject(value)
    const parts = content?.['parts'] === undefined ? [spelledPart(value)] : partsOf(content)
    const side = content?.['parts'] === undefined ? 'user' : sideOf(content)
    readTurn(parts, side, reading, before)
    before = parts
  }
  return { items: builder.items }
}

function readTurn(
  parts: readonly JsonValue[],
  side: 'model' | 'user',
  reading: Reading,
  before: readonly JsonValue[],
): void {
  const { builder } = reading
  // Neighbouring turns of the model are one step, if it calls in them.
  const isSameStep = builder.inResponse && [...before, ...parts].some(isCall)
  if (side === 'user') builder.endResponse()
  else if (!isSameStep) builder.startResponse()
  if (side === 'user') readParts(mostExactFirst(parts), side, reading)
  else readParts(parts.some(isPieceOfCall) ? joined(parts) : parts, side, reading)
}

/** A result that names its call must find it before one that goes by its position takes it. */
function mostExactFirst(parts: readonly JsonValue[]): readonly JsonValue[] {
  const rank = (part: JsonValue) => {
    const response = asObject(asObject(part)?.['functionResponse'])
    if (response === undefined) return 3
    return asWord(response['id']) ? 0 : asWord(response['name']) ? 1 : 2
  }
  return parts.every((part) => rank(part) === 3)
    ? parts
    : parts.toSorted((a, b) => rank(a) - rank(b))
}

/** Joins the chunks of a stored stream. */
function joined(parts: readonly JsonValue[]): readonly JsonValue[] {
  const collector = new PartCollector()
  for (const part of parts) collector.add(part)
  return collector.parts()
}

function isCall(part: JsonValue): boolean {
  return asObject(part)?.['functionCall'] !== undefined
}

function isPieceOfCall(part: JsonValue): boolean {
  const call = asObject(asObject(part)?.['functionCall'])
  return call?.['partialArgs'] !== undefined || call?.['willContinue'] !== undefined
}

const MODEL_KINDS = new Set<unknown>([
  'functionCall',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
])

/** Whose turn it is; a content without role is the model's when only the model makes such parts. */
function sideOf(content: JsonObject): 'model' | 'user' {
  const role = asText(content['role'])
  if (role !== undefined) return role === 'model' ? 'model' : 'user'
  return partsOf(content).some((part) => MODEL_KINDS.has(kindOf(asObject(part) ?? {})))
    ? 'model'
    : 'user'
}

function startReading(context: DecodeContext): Reading {
  return { builder: new HistoryBuilder(API, PROVIDER, context), key: keyOf(context) }
}

function unknownPayload(): BobbinError {
  const message = `The payload is nothing that \`${API}\` has: pass a response, a part, a list of parts or contents, or a request with \`contents\`.`
  return new BobbinError('E_UNKNOWN_PAYLOAD', message, { api: API })
}
