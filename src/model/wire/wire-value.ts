import type { JsonObject, JsonValue } from '../../core/json/json.ts'

/** The value as an object of members; undefined for anything else, a list included. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined
}

/** The value as a list; an empty one for anything else. */
export function asList(value: unknown): readonly JsonValue[] {
  return Array.isArray(value) ? (value as JsonValue[]) : []
}

/** The value as text; undefined for anything else. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A text that is not empty. An empty id, name or signature counts as missing. */
export function asWord(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A copy without some members. */
export function without(value: JsonObject, ...members: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !members.includes(name)))
}

/** A value as JSON; empty when it nests too deep to be written. */
export function jsonText(value: JsonValue): string {
  try {
    return JSON.stringify(value)
  } catch {
    return ''
  }
}

/** True for a text that is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
