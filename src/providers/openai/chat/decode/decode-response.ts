import type { BobbinError } from '../../../../core/error/error.ts'
import type { JsonValue } from '../../../../core/json/json.ts'
import { assemble, type Ending } from '../../../../model/events/assembler.ts'
import { type FinishReason, permitsTools } from '../../../../model/events/finish-reason.ts'
import type { Finish, Usage } from '../../../../model/events/model-event.ts'
import { broken } from '../../../../model/sse.ts'
import { HistoryBuilder } from '../../../../model/wire/history-builder.ts'
import type { DecodeContext } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../../records/history-item.ts'
import { failureOfBody } from '../../fail.ts'
import { FINISH_REASONS } from '../wire/quirks.ts'
import type { ChatChoice, ChatMessage, ChatResponse } from '../wire/wire.ts'
import { readAssistant } from './decode-message.ts'

export const API = 'openai-chat'
export const PROVIDER = 'openai'

/** Decodes a whole response, or the sum of a stream. Throws the error that it holds. */
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
  return assemble(builder.items, endingOf(choice, message, response, builder.items))
}

/** One answer is read; asking for several is not offered, and a stray second one is ignored. */
export function firstChoice(response: ChatResponse): ChatChoice | undefined {
  return asObject(asList(response.choices)[0])
}

/** The error in a body with status 200, in any form that servers use. */
export function failureIn(response: ChatResponse): BobbinError | undefined {
  const error = response.error ?? firstChoice(response)?.error
  if (error !== undefined && error !== null) return failureOfBody(API, error, { holder: response })
  return response['object'] === 'error' ? failureOfBody(API, response) : undefined
}

/** The provider's word and ours; a word that we do not know permits nothing. */
export function reasonOf(word: JsonValue | undefined): FinishReason | undefined {
  if (word === undefined || word === null || word === '') return undefined
  return FINISH_REASONS.get((asText(word) ?? '').toLowerCase()) ?? 'other'
}

function endingOf(
  choice: ChatChoice,
  message: ChatMessage,
  response: ChatResponse,
  items: readonly HistoryItem[],
): Ending {
  const reason = reasonOf(choice.finish_reason) ?? unsaidReason(items)
  const rawReason = asText(choice.finish_reason)
  const responseId = asText(response.id)
  const usage = usageOf(response.usage)
  return {
    reason: asText(message.refusal) && permitsTools(reason) ? 'refusal' : reason,
    ...(rawReason !== undefined && { rawReason }),
    ...(responseId !== undefined && { responseId }),
    ...(usage !== undefined && { usage }),
    ...(isGrounded(message, response) && { grounded: true }),
  }
}

/** Some servers give no reason. A whole response that says something was given back as finished. */
function unsaidReason(items: readonly HistoryItem[]): FinishReason {
  if (!items.some(({ type }) => type === 'message')) return 'other'
  return items.some(({ type }) => type === 'call') ? 'tools' : 'stop'
}

/** Web search on this wire leaves no call, only sources beside the text. */
function isGrounded(message: ChatMessage, response: ChatResponse): boolean {
  return [
    message['annotations'],
    message['citations'],
    message['search_results'],
    response['citations'],
    response['search_results'],
  ].some((sources) => asList(sources).length > 0)
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
  const details = asObject(usage?.['prompt_tokens_details'])
  const cached = count('cached_tokens', details) ?? count('prompt_cache_hit_tokens')
  const written = count('cache_write_tokens', details)
  const reasoning = count('reasoning_tokens', asObject(usage?.['completion_tokens_details']))
  return {
    inputTokens,
    outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(written !== undefined && { cacheWriteTokens: written }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}
