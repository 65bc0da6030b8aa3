import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import type { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import { asList, asObject, asText, asWord, without } from '../../../../model/wire/wire-value.ts'
import { decodeContent, decodeResult, thoughtText } from '../wire/content.ts'
import {
  inSnakeCase,
  isInput,
  type ServerStep,
  serverStep,
  typeOf,
  type WireStep,
} from '../wire/wire.ts'

/** Reads the steps of a history, or of a response that has begun already; finds where responses begin and end. */
export function readSteps(steps: readonly JsonValue[], builder: HistoryBuilder): void {
  for (const value of steps) {
    const given = asObject(value)
    const step = given === undefined ? undefined : spelledStep(given)
    const type = typeOf(step)
    if (isInput(type) || (step === undefined && !builder.inResponse)) builder.endResponse()
    else if (!builder.inResponse) builder.startResponse()
    if (step === undefined || given === undefined) builder.raw(value, sideOf(builder))
    // Turns of the first versions are not taken back as they came.
    else readStep(step, typeOf(given) === '' && type !== '' ? step : given, builder)
  }
}

/** A step in snake_case. Arguments and results are what the model and the tools wrote, and stay as they are. */
export function spelledStep(step: JsonObject): WireStep {
  const read: WireStep = inSnakeCase(step)
  if (typeOf(read) !== '' || read['role'] === undefined) return read
  const type = read['role'] === 'model' ? 'model_output' : 'user_input'
  const { content } = read
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return { ...without(read, 'role'), type, ...(blocks !== undefined && { content: blocks }) }
}

function readStep(step: WireStep, given: JsonObject, builder: HistoryBuilder): void {
  const type = typeOf(step)
  const server = serverStep(type)
  if (server !== undefined) return readServerStep(step, given, server, builder)
  switch (type) {
    case 'user_input':
      return readInput(step, given, builder)
    case 'model_output':
      return readOutput(step, given, builder)
    case 'thought':
      return builder.thought(thoughtText(step.summary), { step: given })
    case 'function_call':
      return readCall(step, builder)
    case 'function_result':
      return readResult(step, given, builder)
    default:
      return builder.raw(given, sideOf(builder))
  }
}

function sideOf(builder: HistoryBuilder): 'user' | 'assistant' {
  return builder.inResponse ? 'assistant' : 'user'
}

/** What a person said. Some clients put results of functions among it. */
function readInput(step: WireStep, given: JsonObject, builder: HistoryBuilder): void {
  const blocks = asList(step.content)
  const results = blocks.filter((block) => asObject(block)?.['type'] === 'function_result')
  if (results.length === 0) {
    return builder.message('user', decodeContent(step.content), { step: given })
  }
  for (const result of results as readonly JsonObject[]) {
    readResult(inSnakeCase(result), result, builder)
  }
  const said = decodeContent(blocks.filter((block) => !results.includes(block)))
  if (said.length > 0) builder.message('user', said)
}

function readOutput(step: WireStep, given: JsonObject, builder: HistoryBuilder): void {
  const parts = decodeContent(step.content)
  const isEmpty = parts.length === 0 && asList(step.content).length === 0
  if (isEmpty && step['error'] === undefined) return
  builder.message('assistant', parts, { step: given })
}

const CALL_MEMBERS = ['type', 'id', 'name', 'arguments']

function readCall(step: WireStep, builder: HistoryBuilder): void {
  const tool = asText(step.name) ?? ''
  // Streams send an empty signature where the step has none.
  const dropped = asWord(step.signature) === undefined ? ['signature'] : []
  builder.call({
    type: 'function_call',
    tool,
    args: step.arguments,
    executedBy: 'runner',
    callId: asText(step.id),
    pairKeys: [`name:${tool}`, 'type:function_call'],
    // Always there: it tells that the call stood on this wire as it is.
    data: { extras: without(step, ...CALL_MEMBERS, ...dropped) },
  })
}

function readResult(step: WireStep, given: JsonObject, builder: HistoryBuilder): void {
  const name = asWord(step.name)
  builder.result({
    type: 'function_result',
    tool: name ?? 'unknown_tool',
    executedBy: 'runner',
    callId: asText(step.call_id),
    pairKeys: [...(name === undefined ? [] : [`name:${name}`]), 'type:function_call'],
    isError: step.is_error === true,
    parts: decodeResult(step.result),
    data: { step: given },
  })
}

function readServerStep(
  step: WireStep,
  given: JsonObject,
  { tool, isCall }: ServerStep,
  builder: HistoryBuilder,
): void {
  const side = {
    type: typeOf(step),
    tool: asWord(step.name) ?? tool,
    executedBy: 'provider',
    pairKeys: [`tool:${tool}`],
    raw: given,
  } as const
  if (isCall) builder.call({ ...side, callId: asText(step.id), args: step.arguments })
  else {
    builder.result({
      ...side,
      callId: asText(step.call_id),
      isError: step.is_error === true,
      parts: decodeResult(step.result),
    })
  }
}
