import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { assemble, type Ending, withoutRunnerCalls } from '../../../model/events/assembler.ts'
import type { FinishReason } from '../../../model/events/finish-reason.ts'
import type { Finish, ModelEvent, Usage } from '../../../model/events/model-event.ts'
import { broken } from '../../../model/sse.ts'
import { HistoryBuilder } from '../../../model/wire/history-builder.ts'
import type { DecodeContext, StreamDecoder } from '../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText, asWord } from '../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../records/history-item.ts'
import { addUsage } from '../wire/add-usage.ts'
import { partsWithArgsText } from '../wire/argument-text.ts'
import { failureOfBody } from '../wire/fail.ts'
import { inCamelCase, spelledPart } from '../wire/spelling.ts'
import { API, type GeminiResponse, keyOf, PROVIDER } from '../wire/wire.ts'
import { readParts } from './decode-part.ts'
import { PartCollector } from './part-collector.ts'

const NOTHING: readonly ModelEvent[] = []

/** The reducer, and a door for whole responses, which may end without saying why. */
export interface GeminiStreamDecoder extends StreamDecoder {
  /** The response is over, whatever it said: without a reason its calls are not permitted. */
  settle(): readonly ModelEvent[]
}

/** The reducer over the chunks of one response; a whole response is its only chunk. */
export function decodeStream(context: DecodeContext): GeminiStreamDecoder {
  const collector = new PartCollector()
  let responseId: string | undefined
  let counted: JsonObject | undefined
  let finish: Finish | undefined
  let grounded = false
  /** Where the response stopped at the limit of one request, and what it cost until there. */
  let continuation: string | undefined
  let spent: Usage | undefined

  function push(value: unknown, source?: string): readonly ModelEvent[] {
    if (finish !== undefined) return NOTHING
    const given = asObject(value)
    if (given === undefined) throw broken('unexpected-event', 'a chunk is not an object')
    const chunk: GeminiResponse = inCamelCase(given)
    if (asObject(chunk.error) !== undefined) throw failureOfBody(chunk)
    responseId ??= asWord(chunk.responseId)
    // Each chunk counts anew, and some say nothing but what kind of traffic they are.
    const counts = camelAt(chunk.usageMetadata)
    if (counts?.['promptTokenCount'] !== undefined) counted = counts
    const candidates = asList(chunk.candidates)
    const index = candidates.findIndex(isFirst)
    const candidate = camelAt(candidates[index])
    grounded ||= isGrounded(candidate)
    const told = addParts(candidate, index, source)
    const reason = reasonOf(candidate, chunk)
    continuation = reason === 'CONTINUATION' ? asWord(candidate?.['continuationToken']) : undefined
    if (continuation !== undefined) {
      spent = addUsage(spent, usageOf(counted))
      counted = undefined
    }
    if (reason === undefined || continuation !== undefined) return told
    finish = finishWith(reason)
    return [...told, finish]
  }

  function addParts(
    candidate: JsonObject | undefined,
    index: number,
    source: string | undefined,
  ): readonly ModelEvent[] {
    const received = asList(asObject(candidate?.['content'])?.['parts']).map(spelledPart)
    const parts = source === undefined ? received : partsWithArgsText(received, index, source)
    const [first] = parts
    if (parts.length === 1 && first !== undefined) return collector.add(first)
    return parts.flatMap((part) => collector.add(part))
  }

  function finishWith(rawReason: string | null): Finish {
    const items = read()
    const hasCalls = items.some((item) => item.type === 'call' && item.executedBy === 'runner')
    const usage = addUsage(spent, usageOf(counted))
    const ending: Ending = {
      reason: continuation === undefined ? wordOf(rawReason, hasCalls) : 'pause',
      ...(rawReason !== null && { rawReason }),
      ...(responseId !== undefined && { responseId }),
      ...(usage !== undefined && { usage }),
      ...(grounded && { grounded }),
    }
    const told = assemble(items, ending)
    return { ...told, unfinished: [...told.unfinished, ...collector.unfinished()] }
  }

  function read(): readonly HistoryItem[] {
    const builder = new HistoryBuilder(API, PROVIDER, context)
    builder.startResponse(responseId)
    readParts(collector.parts(), 'model', { builder, key: keyOf(context) })
    return builder.items
  }

  return {
    push,
    partial: () => (finish === undefined ? withoutRunnerCalls(read()) : finish.items),
    end: () => {
      if (finish !== undefined) return NOTHING
      if (continuation === undefined) throw broken('cut', 'it ended before its finish reason')
      finish = finishWith('CONTINUATION')
      return [finish]
    },
    settle: () => {
      if (finish !== undefined) return NOTHING
      finish = finishWith(continuation === undefined ? null : 'CONTINUATION')
      return [finish]
    },
    get continuation() {
      return finish === undefined ? continuation : undefined
    },
  }
}

function camelAt(value: JsonValue | undefined): JsonObject | undefined {
  const object = asObject(value)
  return object === undefined ? undefined : inCamelCase(object)
}

/** Of several candidates only the first is the answer. */
function isFirst(value: JsonValue): boolean {
  const index = asObject(value)?.['index']
  return index === undefined || index === null || index === 0
}

const READ_PAGES = ['groundingMetadata', 'urlContextMetadata']

/** Search and URL context leave no part in the answer, only these words beside it. */
function isGrounded(candidate: JsonObject | undefined): boolean {
  if (candidate === undefined) return false
  for (const name of READ_PAGES) {
    const pages = candidate[name]
    if (pages !== undefined && Object.keys(asObject(pages) ?? {}).length > 0) return true
  }
  return false
}

/** Why the response ended, or why the prompt was blocked; undefined until then. */
function reasonOf(candidate: JsonObject | undefined, chunk: GeminiResponse): string | undefined {
  const blocked = asText(camelAt(chunk.promptFeedback)?.['blockReason'])
  return asWord(candidate?.['finishReason']) ?? (candidate === undefined ? blocked : undefined)
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'filter',
  RECITATION: 'filter',
  BLOCKLIST: 'filter',
  PROHIBITED_CONTENT: 'filter',
  SPII: 'filter',
  IMAGE_SAFETY: 'filter',
  IMAGE_PROHIBITED_CONTENT: 'filter',
  IMAGE_RECITATION: 'filter',
  MODEL_ARMOR: 'filter',
  JAILBREAK: 'filter',
  BLOCKED_REASON_UNSPECIFIED: 'filter',
  MALFORMED_FUNCTION_CALL: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MALFORMED_RESPONSE: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
}

/** This wire has no word of its own for tools: it says `STOP` and asks for them. */
function wordOf(raw: string | null, hasCalls: boolean): FinishReason {
  if (raw === 'STOP') return hasCalls ? 'tools' : 'stop'
  return (raw !== null && Object.hasOwn(REASONS, raw) && REASONS[raw]) || 'other'
}

/** Thoughts are billed as output, and what tools brought in as input. */
function usageOf(usage: JsonObject | undefined): Usage | undefined {
  const count = (name: string) => {
    const number = usage?.[name]
    return typeof number === 'number' ? number : undefined
  }
  const prompt = count('promptTokenCount')
  if (prompt === undefined) return undefined
  const cached = count('cachedContentTokenCount')
  const thoughts = count('thoughtsTokenCount')
  return {
    inputTokens: prompt + (count('toolUsePromptTokenCount') ?? 0),
    outputTokens: (count('candidatesTokenCount') ?? 0) + (thoughts ?? 0),
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(thoughts !== undefined && { reasoningTokens: thoughts }),
  }
}
