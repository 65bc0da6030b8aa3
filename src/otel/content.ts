import type { JsonValue } from '../core/json/json.ts'
import type { CallResult, HistoryItem } from '../records/history-item.ts'

/** The most that an attribute has of a content, in UTF-16 units. */
export const MAX_CONTENT = 32_768

/** History items as the conventions write messages. Thoughts and raw items are left out; media are named. */
export function messagesOf(items: readonly HistoryItem[]): JsonValue[] {
  return items.flatMap((item): JsonValue[] => {
    switch (item.type) {
      case 'message':
        return [{ role: item.role, parts: item.parts.map(partOf) }]
      case 'call':
        return callOf(item)
      default:
        return []
    }
  })
}

function callOf(item: Extract<HistoryItem, { type: 'call' }>): JsonValue[] {
  const { id, tool: name, args, result } = item
  const asked = { type: 'tool_call', id, name, arguments: args }
  const answer = result && { type: 'tool_call_response', id, response: resultText(result) }
  return [
    { role: 'assistant', parts: [asked] },
    ...(answer ? [{ role: 'tool', parts: [answer] }] : []),
  ]
}

const resultText = ({ parts }: CallResult): JsonValue => parts.map(partOf)

function partOf(part: { readonly type: string; readonly text?: unknown }): JsonValue {
  return typeof part.text === 'string'
    ? { type: 'text', content: part.text }
    : { type: 'media', media: part.type }
}

/** A list as JSON that is not too long: the oldest members go first. */
export function listText(list: readonly JsonValue[]): string {
  const texts = list.map((each) => JSON.stringify(each))
  let length = 2
  let first = texts.length
  while (first > 0 && length + (texts[first - 1]?.length ?? 0) + 1 <= MAX_CONTENT) {
    first--
    length += (texts[first]?.length ?? 0) + 1
  }
  return `[${texts.slice(first).join(',')}]`
}
