import type { BobbinError } from '../../../core/error.ts'
import type { JsonValue } from '../../../core/json.ts'
import { assemble, type Ending } from '../../../model/assembler.ts'
import { type FinishReason, permitsTools } from '../../../model/finish-reason.ts'
import { HistoryBuilder } from '../../../model/history-builder.ts'
import type { Finish, Usage } from '../../../model/model-event.ts'
import { broken } from '../../../model/sse.ts'
import type { DecodeContext } from '../../../model/wire-adapter.ts'
import { asList, asObject, asText } from '../../../model/wire-value.ts'
import { failureOfBody } from '../fail.ts'
import { readAssistant } from './decode-message.ts'
import { FINISH_REASONS } from './quirks.ts'
import type { ChatChoice, ChatMessage, ChatResponse } from './wire.ts'

export const API = 'openai-chat'
export const PROVIDER = 'openai'

/** A whole response, or what a stream added up to; one that tells of an error throws it. */
export function decodeResponse(response: ChatResponse, context: DecodeContext): Finish {
  const failure = failureIn(response)
  if (failure !== undefined) throw failure
  const choice = firstChoice(response)
  if (choice === undefined) throw broken('unexpected-event', 'it has no choice')
  const message = (asObject(choice.message) ?? {}) as ChatMessage
  const builder = new HistoryBuilder(API, PROVIDER, context)
  const responseId = asText(response.id)
  builder.startResponse(responseId)
  readAssistant(message, builder, API)
  return assemble(builder.items, endingOf(choice, message, response))
}

/** One answer is read; asking for several is not offered, and a stray second one is ignored. */
export function firstChoice(response: ChatResponse): ChatChoice | undefined {
  return asObject(asList(response.choices)[0])
}

/** The error that a body tells of in spite of a status of 200, in the forms that servers have. */
export function failureIn(response: ChatResponse): BobbinError | undefined {
  const error = response.error ?? firstChoice(response)?.error
  if (error !== undefined && error !== null) return failureOf(error)
  return response['object'] === 'error' ? failureOf(response) : undefined
}

function failureOf(error: JsonValue): BobbinError {
  // Gateways put the status of the server behind them into `code`.
  const code = asObject(error)?.['code']
  const isStatus = typeof code === 'number' && code >= 400 && code < 600
  return failureOfBody(API, error, isStatus ? code : undefined)
}

/** The provider's word and ours; a word that we do not know permits nothing. */
export function reasonOf(word: JsonValue | undefined): FinishReason | undefined {
  if (word === undefined || word === null || word === '') return undefined
  return FINISH_REASONS.get(asText(word) ?? '') ?? 'other'
}

function endingOf(choice: ChatChoice, message: ChatMessage, response: ChatResponse): Ending {
  const reason = reasonOf(choice.finish_reason) ?? 'other'
  const rawReason = asText(choice.finish_reason)
  const responseId = asText(response.id)
  const usage = usageOf(response.usage)
  return {
    reason: asText(message.refusal) && permitsTools(reason) ? 'refusal' : reason,
    ...(rawReason !== undefined && { rawReason }),
    ...(responseId !== undefined && { responseId }),
    ...(usage !== undefined && { usage }),
  }
}

function usageOf(value: JsonValue | undefined): Usage | undefined {
  const usage = asObject(value)
  const count = (name: string, holder = usage) => {
    const number = holder?.[name]
    return typeof number === 'number' ? number : undefined
  }
  const inputTokens = count('prompt_tokens')
  const outputTokens = count('completion_tokens')
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const cached =
    count('cached_tokens', asObject(usage?.['prompt_tokens_details'])) ??
    count('prompt_cache_hit_tokens')
  const reasoning = count('reasoning_tokens', asObject(usage?.['completion_tokens_details']))
  return {
    inputTokens,
    outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}
