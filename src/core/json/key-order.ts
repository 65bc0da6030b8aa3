import { markNormalized } from './argument-facts.ts'
import type { JsonObject } from './json.ts'
import { normalizeArguments } from './strict-json.ts'

/**
 * Sorts the keys of every plain object in a value, as canonical JSON does. Stored values have this order, so a request
 * built from live or stored values has the same bytes. Returns the value itself if its keys are in order; copies are
 * frozen.
 */
export function inKeyOrder<T>(value: T): T {
  return sorted(value, new Set()) as T
}

/** Arguments as deep-frozen real JSON, like `normalizeArguments`, with their keys in order. */
export function canonicalArguments(value: unknown): JsonObject {
  const args = normalizeArguments(value)
  const ordered = sorted(args, new Set()) as JsonObject
  if (ordered !== args) markNormalized(ordered)
  return ordered
}

/** The sorted value. `around` has the objects that hold this one. */
function sorted(value: unknown, around: Set<object>): unknown {
  // A value that holds itself is refused when it is stored, not here.
  if (typeof value !== 'object' || value === null || around.has(value)) return value
  const isList = Array.isArray(value)
  if (!isList && !isPlain(value)) return value
  around.add(value)
  const copy = isList ? sortedList(value, around) : sortedObject(value as Members, around)
  around.delete(value)
  return copy
}

type Members = Readonly<Record<string, unknown>>

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function sortedList(list: readonly unknown[], around: Set<object>): readonly unknown[] {
  const copy = list.map((member) => sorted(member, around))
  return copy.every((member, index) => member === list[index]) ? list : Object.freeze(copy)
}

function sortedObject(value: Members, around: Set<object>): object {
  const keys = Object.keys(value)
  const ordered = keys.toSorted()
  let isSame = ordered.every((key, index) => key === keys[index])
  const entries = ordered.map((key) => {
    const member = sorted(value[key], around)
    if (member !== value[key]) isSame = false
    return [key, member] as const
  })
  return isSame ? value : Object.freeze(Object.fromEntries(entries))
}
