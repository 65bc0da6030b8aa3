import type { ArgumentRule } from './error-codes.ts'
import type { JsonArray, JsonObject, JsonValue } from './json.ts'
import { type JsonFault, type JsonSubject, jsonError } from './json-error.ts'
import { isUnsafeInteger } from './json-scan.ts'

/** How deep and how large arguments may be. */
export interface ArgumentLimits {
  /** Containers inside each other, the arguments themselves included. */
  readonly depth: number
  /** Characters of JSON text; for objects, of the least text that could hold them. */
  readonly chars: number
}

/**
 * Copies a plain object into real JSON, or refuses it with the path of the offender. All but the copy
 * itself is frozen: its maker may have something to note on it first.
 */
export function copyPlain(value: object, limits: ArgumentLimits, subject: JsonSubject): JsonObject {
  const state: Copying = { limits, chars: 0, trail: [], ancestors: [value], fault: undefined }
  try {
    if (Array.isArray(value)) throw refusal(state, 'not-an-object', 'it is an array')
    return copyContainer(state, value, 1) as JsonObject
  } catch {
    throw jsonError(subject, state.fault ?? unreadable(state))
  }
}

/** Copies any value into deep-frozen real JSON, or refuses it with the path of the offender. */
export function copyValue(value: unknown, limits: ArgumentLimits, subject: JsonSubject): JsonValue {
  const ancestors = [value as object]
  const state: Copying = { limits, chars: 0, trail: [], ancestors, fault: undefined }
  try {
    return Object.freeze(copyMember(state, value, 0))
  } catch {
    throw jsonError(subject, state.fault ?? unreadable(state))
  }
}

/** Getters and proxies run code of their own, which may throw anything. */
const unreadable = ({ trail }: Copying): JsonFault => ({
  rule: 'unsupported-type',
  path: trail,
  detail: 'reading it throws an error',
})

interface Copying {
  readonly limits: ArgumentLimits
  chars: number
  /** The containers that the walk is in, and the key or index that it is at in each. */
  readonly ancestors: object[]
  trail: (string | number)[]
  /** What the walk itself refused the value for. */
  fault: JsonFault | undefined
}

function copyContainer(state: Copying, value: object, depth: number): JsonArray | JsonObject {
  const { ancestors } = state
  // The ancestor at the last depth that is a power of two stands in for all (Brent's cycle finding):
  // the limits end any circle, but this ends it before large neighbours are copied over and over.
  const isCircle = depth > 1 && value === ancestors[(1 << (31 - Math.clz32(depth - 1))) - 1]
  if (depth > 1) ancestors.push(value)
  if (isCircle || depth > state.limits.depth) throw refusal(state, 'too-deep')
  const keys = keysOf(state, value)
  // A list that is written has the size it needs, one that grows has room for seventeen.
  if (depth === 1) state.trail = ['']
  else state.trail.push('')
  const copy = Array.isArray(value)
    ? copyArray(state, value, depth)
    : copyObject(state, value as Record<string, unknown>, keys, depth)
  if (depth === 1) return copy
  ancestors.pop()
  state.trail.pop()
  return Object.freeze(copy)
}

/** The keys of a plain object, none for a plain array; whatever else is refused. */
function keysOf(state: Copying, value: object): readonly string[] {
  if (Array.isArray(value)) {
    // `Array.prototype` is itself an array, in every realm; the prototype of a subclass is not.
    if (!Array.isArray(Object.getPrototypeOf(value))) throw refusal(state, 'not-plain')
    charge(state, value.length + 2)
    return []
  }
  if (!isPlainObject(value)) throw refusal(state, 'not-plain')
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw refusal(state, 'unsupported-type', 'one of its keys is a symbol')
  }
  const keys = Object.keys(value)
  // Quotes, colon and comma of every key at once, so that a very wide object is refused before it is copied.
  // Keys of undefined properties count too: reading them takes time, and shared objects are read often.
  charge(state, 4 * keys.length + 2)
  return keys
}

function copyArray(state: Copying, value: readonly unknown[], depth: number): JsonArray {
  const { length } = value
  const copy: JsonValue[] = []
  for (let i = 0; i < length; i++) {
    state.trail[depth - 1] = i
    const member = value[i]
    if (member === undefined) {
      throw refusal(state, i in value ? 'unsupported-type' : 'sparse-array')
    }
    copy.push(copyMember(state, member, depth))
  }
  return copy
}

function copyObject(
  state: Copying,
  value: Record<string, unknown>,
  keys: readonly string[],
  depth: number,
): JsonObject {
  const copy: Record<string, JsonValue> = {}
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    state.trail[depth - 1] = key
    const member = value[key]
    if (member === undefined) continue
    if (!key.isWellFormed()) throw refusal(state, 'lone-surrogate')
    charge(state, key.length)
    setOwn(copy, key, copyMember(state, member, depth))
  }
  return copy
}

function copyMember(state: Copying, member: unknown, depth: number): JsonValue {
  switch (typeof member) {
    case 'string':
      charge(state, member.length + 2)
      if (!member.isWellFormed()) throw refusal(state, 'lone-surrogate')
      return member
    case 'number':
      if (!Number.isFinite(member)) throw refusal(state, 'not-finite')
      if (isUnsafeInteger(member)) throw refusal(state, 'unsafe-integer')
      // JSON has no minus zero; the sum of the two zeros is the plain one.
      return member + 0
    case 'boolean':
      return member
    case 'object':
      return member === null ? null : copyContainer(state, member, depth + 1)
    default:
      throw refusal(state, 'unsupported-type', `it is a ${typeof member}`)
  }
}

/** Inherited names, `__proto__` above all, must become own properties; assignment might not do that. */
function setOwn(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key in target) {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else target[key] = value
}

function charge(state: Copying, chars: number): void {
  state.chars += chars
  if (state.chars > state.limits.chars) throw refusal(state, 'too-large')
}

/** Ends the walk, and says why: what the trail points at breaks the rule. */
function refusal(state: Copying, rule: ArgumentRule, detail?: string): Error {
  state.fault =
    rule === 'too-deep' || rule === 'too-large'
      ? excess(state, rule)
      : { rule, path: state.trail, detail }
  return new Error(rule)
}

/** A circle shows as depth or size, and is named as what it is. */
function excess({ ancestors, trail, limits }: Copying, rule: 'too-deep' | 'too-large'): JsonFault {
  const again = firstRepetition(ancestors)
  if (again !== undefined) return { rule: 'cycle', path: trail.slice(0, again) }
  const limit = rule === 'too-deep' ? `${limits.depth} levels` : `${limits.chars} characters`
  return { rule, path: trail, detail: `more than ${limit}` }
}

/** The index of the first ancestor that stands further up as well. */
function firstRepetition(ancestors: readonly object[]): number | undefined {
  const met = new Set<object>()
  for (const [i, ancestor] of ancestors.entries()) {
    if (met.has(ancestor)) return i
    met.add(ancestor)
  }
  return undefined
}

/** True for objects made by `{}` or `JSON.parse` in any realm, and for those without a prototype. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
  )
}
