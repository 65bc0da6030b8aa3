import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { ProviderKey } from '../../../model/wire/provider-data.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../records/history-item.ts'
import { bindsThinking } from '../../anthropic/thinking/binding-models.ts'
import {
  binderOf,
  boundsOf,
  type ReasoningBinder,
  withoutDeadThinking,
} from '../../anthropic/thinking/bound-thinking.ts'
import { decodeReasoning } from './content.ts'
import { asJson, type ConversePart, taggedOf } from './wire.ts'

/**
 * A block in the words of Claude's own API, so that the rules for its thinking are written once. It is only compared
 * and never sent.
 */
export function comparableOf(value: unknown): JsonObject {
  const { tag = 'unknown', body = null } = taggedOf(value) ?? {}
  switch (tag) {
    case 'text':
      return { type: 'text', text: asText(body) ?? '' }
    case 'reasoningContent':
      return decodeReasoning(body)?.data ?? { type: 'reasoning', body: asJson(body) }
    case 'toolUse': {
      const { toolUseId = null, name = null, input = null } = asObject(body) ?? {}
      return { type: 'tool_use', id: toolUseId, name, input }
    }
    case 'toolResult': {
      const { toolUseId = null, content, status = null } = asObject(body) ?? {}
      return {
        type: 'tool_result',
        tool_use_id: toolUseId,
        status: status === 'success' ? null : status,
        content: comparables(content),
      }
    }
    default:
      return { type: tag, body: asJson(body) }
  }
}

/** The blocks of a list without cache points, which change nothing. */
function comparables(list: unknown): JsonObject[] {
  return asList(list)
    .filter((block) => !isPoint(block))
    .map(comparableOf)
}

const isPoint = (block: unknown) => taggedOf(block)?.tag === 'cachePoint'

/** What Claude's thinking is bound to, and which block of the request each comparable one stands for. */
interface Comparable {
  readonly messages: readonly { readonly role: string; readonly content: readonly JsonObject[] }[]
  readonly system: JsonValue[]
  readonly tools: JsonValue[]
}

const read = new WeakMap<object, Comparable>()

/** Gives the binding of the reasoning in the response to a request. */
export function binderFor(body: object): ReasoningBinder | undefined {
  return binderOf(read.get(body) ?? comparableBody(body))
}

/** The request without reasoning that Claude would refuse, and how many blocks of it died. */
export function withoutDeadReasoning<Body extends ConversePart>(
  body: Body,
  items: readonly HistoryItem[],
  key: ProviderKey,
): { readonly body: Body; readonly dead: number } {
  const whole = comparableBody(body)
  const { body: kept, dead } = withoutDeadThinking(whole, boundsOf(items, key))
  const messages = body.messages.map((message, at) => {
    const before = whole.messages[at]?.content ?? []
    const after = new Set(kept.messages[at]?.content)
    if (before.length === after.size) return message
    let index = 0
    const content = message.content.filter(
      (block) => isPoint(block) || after.has(before[index++] as JsonObject),
    )
    return { ...message, content }
  })
  const sent: Body = { ...body, messages }
  read.set(sent, kept)
  return { body: sent, dead }
}

function comparableBody(body: object): Comparable {
  const { messages, system, toolConfig } = body as Readonly<Record<string, unknown>>
  return {
    messages: asList(messages).map((value) => {
      const message = asObject(value)
      return { role: asText(message?.['role']) ?? '', content: comparables(message?.['content']) }
    }),
    system: comparables(system),
    tools: asList(asObject(toolConfig)?.['tools']).filter((tool) => !isPoint(tool)),
  }
}

/** A name that tells nothing counts as one of Claude: leaving out costs less than a refused request. */
export function bindsReasoning(model: string): boolean {
  if (/claude/i.test(model)) return bindsThinking(model)
  return /(?:application-inference-profile|custom-model-deployment|prompt|provisioned-model)\//.test(
    model,
  )
}
