import type {
  ChatCompletionFunctionMessageParam,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
} from 'openai/resources/chat/completions'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import type { EncodeContext } from '../../../../model/wire/encode-groups.ts'
import { partsText } from '../../../../model/wire/foreign-text.ts'
import { fitName } from '../../../../model/wire/name-projection.ts'
import { asObject } from '../../../../model/wire/wire-value.ts'
import type { CallItem, CallResult } from '../../../../records/history-item.ts'
import { API } from '../decode/decode-response.ts'
import { encodePart, textPart, type UserPart } from '../wire/content.ts'

/** Characters that a tool's name cannot have on this wire. */
export const NAME_REFUSED = /[^a-zA-Z0-9_-]/g

/** The form without ids goes back in that form; it has room for one call. */
export function isLegacy(calls: readonly CallItem[]): boolean {
  const [call, ...others] = calls
  return others.length === 0 && call?.wire.api === API && call.wire.type === 'function_call'
}

/** The messages that answer the calls of one response, in call order, followed by the media. */
export function encodeResults(
  calls: readonly CallItem[],
  context: EncodeContext,
): readonly JsonObject[] {
  const answers = isLegacy(calls)
    ? calls.map((call) => encodeFunctionResult(call, context))
    : calls.map((call) => encodeResult(call, context))
  const media = calls.flatMap((call) => encodeMedia(call, context))
  if (media.length === 0) return answers
  // Tool messages take text only, and nothing may stand between them.
  const shown = { role: 'user', content: media } satisfies ChatCompletionUserMessageParam
  return [...answers, shown]
}

function encodeResult(call: CallItem, context: EncodeContext): JsonObject {
  const result = context.resultOf(call)
  const own = received(result, context, 'tool')
  const tool_call_id = context.callId(call)
  if (own !== undefined) return { ...own, tool_call_id }
  const content = partsText(result.parts)
  return { role: 'tool', tool_call_id, content } satisfies ChatCompletionToolMessageParam
}

function encodeFunctionResult(call: CallItem, context: EncodeContext): JsonObject {
  const result = context.resultOf(call)
  const own = received(result, context, 'function')
  if (own !== undefined) return own
  const content = partsText(result.parts)
  return {
    role: 'function',
    name: call.tool,
    content,
  } satisfies ChatCompletionFunctionMessageParam
}

/** The message as it came, where it is one that the wire takes. */
function received(
  result: CallResult,
  context: EncodeContext,
  role: 'tool' | 'function',
): JsonObject | undefined {
  const message = asObject(asObject(context.own(result.providerData))?.['message'])
  const content = message?.['content']
  const isText = (part: JsonValue) => asObject(part)?.['type'] === 'text'
  const isSendable = typeof content === 'string' || (isFilled(content) && content.every(isText))
  return isSendable && message?.['role'] === role ? message : undefined
}

function isFilled(content: JsonValue | undefined): content is readonly JsonValue[] {
  return Array.isArray(content) && content.length > 0
}

function encodeMedia(call: CallItem, context: EncodeContext): readonly UserPart[] {
  const parts = context.resultOf(call).parts.flatMap((part) => {
    if (part.type === 'text') return []
    const encoded = encodePart(part, API)
    if (encoded === undefined) {
      context.leftOut('media', `\`${API}\` cannot take this media; it is named in its place.`)
      return []
    }
    return [encoded]
  })
  if (parts.length === 0) return []
  // Do not put a name that a stranger made up into the user's role.
  const name = fitName(call.tool, NAME_REFUSED, 64)
  return [textPart(`What \`${name}\` (${context.callId(call)}) gave:`), ...parts]
}
