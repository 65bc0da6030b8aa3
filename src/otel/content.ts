import { cutText } from '../core/error/cut-text.ts'
import type { JsonObject, JsonValue } from '../core/json/json.ts'
import type { CallResult, HistoryItem } from '../records/history-item.ts'
import type { Scrub } from '../turn/events/telemetry.ts'

/** The most that an attribute has of a content, in UTF-16 units. */
export const MAX_CONTENT = 32_768

/** History items as the conventions write the input of a model. Thoughts and raw items are left out; media are named. */
export function messagesOf(items: readonly HistoryItem[]): JsonValue[] {
  return items.flatMap((item): JsonValue[] => {
    switch (item.type) {
      case 'message':
        return [{ role: item.role, parts: item.parts.map(partOf) }]
      case 'call':
        return [
          { role: 'assistant', parts: [askedPart(item)] },
          ...answerParts(item).map((part) => ({ role: 'tool', parts: [part] })),
        ]
      default:
        return []
    }
  })
}

/** A response as the conventions write it: one message, whatever it is made of. */
export function responseMessage(items: readonly HistoryItem[], reason: string): JsonValue {
  const parts = items.flatMap((item): JsonValue[] => {
    switch (item.type) {
      case 'message':
        return item.parts.map(partOf)
      case 'call':
        return [askedPart(item), ...answerParts(item)]
      default:
        return []
    }
  })
  return { role: 'assistant', parts, finish_reason: reason }
}

type Call = Extract<HistoryItem, { type: 'call' }>

const askedPart = ({ id, tool: name, args }: Call): JsonValue => ({
  type: 'tool_call',
  id,
  name,
  arguments: args,
})

const answerParts = ({ id, result }: Call): JsonValue[] =>
  result ? [{ type: 'tool_call_response', id, response: resultText(result) }] : []

const resultText = ({ parts }: CallResult): JsonValue => parts.map(partOf)

function partOf(part: { readonly type: string; readonly text?: unknown }): JsonValue {
  return typeof part.text === 'string'
    ? { type: 'text', content: part.text }
    : { type: 'media', media: part.type }
}

/**
 * A list as JSON that is not too long, without secrets: the oldest members go first. The newest one always stays; if it
 * alone is too long, its texts are cut.
 */
export function listText(list: readonly JsonValue[], scrub: Scrub): string {
  const texts: string[] = []
  let length = 2
  for (let at = list.length - 1; at >= 0; at--) {
    const clean = scrub(list[at] as JsonValue)
    const whole = JSON.stringify(clean)
    const isNewest = texts.length === 0
    const text = isNewest && whole.length + 2 > MAX_CONTENT ? cutJson(clean) : whole
    if (length + text.length + (isNewest ? 0 : 1) > MAX_CONTENT) break
    length += text.length + (isNewest ? 0 : 1)
    texts.unshift(text)
  }
  return `[${texts.join(',')}]`
}

/** Stands where a text was cut. */
const MARK = '… [cut]'

/** How long each text may be, from the first try on. */
const LENGTHS = [24_000, 8_000, 2_000, 500, 100]

/** A value as JSON whose texts are cut, the longest first. */
function cutJson(value: JsonValue): string {
  for (const length of LENGTHS) {
    const text = JSON.stringify(shortened(value, length))
    if (text.length + 2 <= MAX_CONTENT) return text
  }
  // It is made of too many pieces.
  const { role } = value as JsonObject
  return JSON.stringify({
    ...(role !== undefined && { role }),
    parts: [{ type: 'text', content: MARK }],
  })
}

function shortened(value: JsonValue, length: number): JsonValue {
  if (typeof value === 'string') {
    return value.length <= length ? value : `${cutText(value, length)}${MARK}`
  }
  if (Array.isArray(value)) return value.map((each: JsonValue) => shortened(each, length))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as JsonObject)
  return Object.fromEntries(entries.map(([key, each]) => [key, shortened(each, length)]))
}
