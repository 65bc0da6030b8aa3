import type { JsonArray, JsonObject, JsonValue } from './json.ts'

/** Whether a value says the same as a piece of real JSON, whatever the order of keys; false when in doubt. */
export function sameJson(value: unknown, json: JsonValue): boolean {
  if (value === json) return true
  if (typeof value !== 'object' || typeof json !== 'object') return false
  if (value === null || json === null) return false
  if (Object.getPrototypeOf(value) !== Object.getPrototypeOf(json)) return false
  if (Array.isArray(json)) {
    const list = value as readonly unknown[]
    const members: JsonArray = json
    return list.length === members.length && members.every((member, i) => sameJson(list[i], member))
  }
  const keys = Object.keys(json)
  const others = Object.keys(value)
  if (others.length !== keys.length) return false
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    // Copies have their keys in the same order nearly always.
    if (key !== others[i] && !Object.hasOwn(value, key)) return false
    const member = (value as Readonly<Record<string, unknown>>)[key]
    if (!sameJson(member, (json as JsonObject)[key] as JsonValue)) return false
  }
  return true
}
