import type { JsonArray, JsonValue } from './json.ts'

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
  if (Object.keys(value).length !== keys.length) return false
  return keys.every(
    (key) =>
      Object.hasOwn(value, key) &&
      sameJson(Reflect.get(value, key), Reflect.get(json, key) as JsonValue),
  )
}
