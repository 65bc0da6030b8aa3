import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import { REASONING_MEMBERS } from './quirks.ts'
import type { ChatMessage } from './wire.ts'

/** The readable reasoning of a message, and the members that held it. */
export interface Reasoning {
  readonly text: string
  /** What must go back; empty when the reasoning is part of the content. */
  readonly members: JsonObject
}

/** The reasoning of a message, wherever its server puts it; undefined without reasoning. */
export function reasoningOf(message: ChatMessage): Reasoning | undefined {
  const members: Record<string, JsonValue> = {}
  for (const name of REASONING_MEMBERS) {
    const value = message[name]
    if (textOf(value) !== '' || asList(value).length > 0) members[name] = value as JsonValue
  }
  const text =
    REASONING_MEMBERS.map((name) => textOf(members[name])).find((found) => found !== '') ??
    thinkingText(message.content)
  return text === '' && Object.keys(members).length === 0 ? undefined : { text, members }
}

/** The text that one member, or one delta of it, adds. */
export function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value
  return asList(value)
    .map((entry) => {
      const detail = asObject(entry)
      return asText(detail?.['text']) ?? asText(detail?.['summary']) ?? ''
    })
    .join('')
}

/** Reasoning in the form of content parts: `{ type: 'thinking', thinking: [{ type: 'text', … }] }`. */
export function thinkingText(content: JsonValue | undefined): string {
  return asList(content)
    .map((part) => textOf(asObject(part)?.['thinking']))
    .join('')
}

/** Joins the pieces in which a list of details is streamed: texts add up, the rest is taken over. */
export function joinDetails(pieces: readonly JsonValue[]): JsonValue[] {
  const joined: JsonValue[] = []
  for (const piece of pieces) {
    const next = asObject(piece)
    const last = asObject(joined.at(-1))
    const isSame =
      next !== undefined &&
      last !== undefined &&
      next['type'] === last['type'] &&
      next['index'] === last['index'] &&
      (typeof next['text'] === 'string' || typeof next['summary'] === 'string')
    if (isSame) joined[joined.length - 1] = joinDetail(last, next)
    else joined.push(piece)
  }
  return joined
}

function joinDetail(last: JsonObject, next: JsonObject): JsonObject {
  const added = Object.entries(next).map(([name, value]) => {
    const before = last[name]
    const isText = name === 'text' || name === 'summary'
    return [name, isText ? `${asText(before) ?? ''}${asText(value) ?? ''}` : (value ?? before)]
  })
  return { ...last, ...(Object.fromEntries(added) as JsonObject) }
}
