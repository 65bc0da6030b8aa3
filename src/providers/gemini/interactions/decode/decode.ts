import { BobbinError } from '../../../../core/error/error.ts'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { assemble } from '../../../../model/events/assembler.ts'
import type { Finish } from '../../../../model/events/model-event.ts'
import { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import type { DecodeContext, Decoding } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import { sourceTexts } from '../../wire/source-texts.ts'
import { stepsWithArgumentText } from '../wire/argument-text.ts'
import { isContent } from '../wire/content.ts'
import {
  endingOf,
  errorIn,
  isGrounded,
  isOver,
  NOTHING_TOLD,
  type Told,
  toldBy,
} from '../wire/ending.ts'
import { failureOfBody } from '../wire/fail.ts'
import { joinedSteps } from '../wire/join-steps.ts'
import { API, inSnakeCase, PROVIDER, typeOf, type WireInteraction } from '../wire/wire.ts'
import { readSteps } from './decode-step.ts'

/** Decodes a response, or the responses of several requests that continue each other; a step, a list of steps, or a request. */
export function decodePayload(payload: unknown, context: DecodeContext): Decoding {
  if (typeof payload === 'string') return decodeSteps([payload], context)
  if (Array.isArray(payload)) return decodeList(payload as JsonValue[], context)
  const given = asObject(payload)
  if (given === undefined) throw unknownPayload()
  const object = inSnakeCase(given)
  if (isResponse(object)) return decodeResponses([object], context)
  if (object['input'] !== undefined) {
    const system = asText(object['system_instruction'])
    return decodeSteps(listOf(object['input']), context, system)
  }
  if (asObject(object['interaction']) !== undefined) {
    return decodePayload(object['interaction'], context)
  }
  if (asObject(object['error']) !== undefined && typeOf(object) === '') throw failureOfBody(object)
  if (asObject(object['step']) !== undefined) return decodePayload(object['step'], context)
  if (typeOf(object) === '' && object['role'] === undefined) throw unknownPayload()
  return decodeSteps([given], context)
}

function decodeList(list: readonly JsonValue[], context: DecodeContext): Decoding {
  const objects = list.map((entry) => inSnakeCase(asObject(entry) ?? {}))
  const areResponses = objects.length > 0 && objects.every(isResponse)
  return areResponses ? decodeResponses(objects, context) : decodeSteps(list, context)
}

const listOf = (value: JsonValue) => (Array.isArray(value) ? asList(value) : [value])

function isResponse(object: JsonObject): boolean {
  if (typeOf(object) !== '' || object['event_type'] !== undefined) return false
  return Array.isArray(object['steps']) || object['object'] === 'interaction'
}

/** One response: a long one may have taken several requests. */
function decodeResponses(parts: readonly WireInteraction[], context: DecodeContext): Decoding {
  const failed = parts.find(({ status }) => status === 'failed')
  if (failed !== undefined) throw failureOfBody({ error: errorIn(failed) })
  const sources = sourceTexts(parts.length, context.source)
  const steps = joinedSteps(
    parts.map((part, at) => stepsWithArgumentText(asList(part.steps), sources[at])),
  )
  const told = parts.reduce<Told>((earlier, part) => toldBy(part, earlier), NOTHING_TOLD)
  const { token: continuation } = told
  const decoded = decodeResponse(steps, told, context)
  return continuation === undefined ? decoded : { ...decoded, continuation }
}

/** A response whose steps are all there. */
export function decodeResponse(
  steps: readonly JsonValue[],
  told: Told,
  context: DecodeContext,
): { readonly items: Finish['items']; readonly finish?: Finish } {
  const builder = new HistoryBuilder(API, PROVIDER, context)
  builder.startResponse(told.responseId)
  readSteps(steps, builder)
  const { items } = builder
  if (!isOver(told.status)) return { items }
  const finish = assemble(items, endingOf(told, items, isGrounded(steps)))
  return { items: finish.items, finish }
}

function decodeSteps(
  list: readonly JsonValue[],
  context: DecodeContext,
  system?: string,
): Decoding {
  const builder = new HistoryBuilder(API, PROVIDER, context)
  if (system !== undefined) builder.message('system', [{ type: 'text', text: system }])
  const isInput = list.length > 0 && list.every(isContent)
  readSteps(isInput ? [{ type: 'user_input', content: [...list] }] : list, builder)
  return { items: builder.items }
}

function unknownPayload(): BobbinError {
  const message = `The payload is nothing that \`${API}\` has: pass an interaction, a step, a list of steps, or a request with \`input\`.`
  return new BobbinError('E_UNKNOWN_PAYLOAD', message, { api: API })
}
