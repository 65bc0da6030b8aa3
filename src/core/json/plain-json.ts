import type { ArgumentRule } from '../error/error-codes.ts'
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

/** Copies a plain object into deep-frozen real JSON, or refuses it with the path of the offender. */
export function copyPlain(value: object, limits: ArgumentLimits, subject: JsonSubject): JsonObject {
  return copied(limits, subject, (state) => {
    if (Array.isArray(value)) throw refusal(state, 'not-an-object', 'it is an array')
    return copyMember(state, value) as JsonObject
  })
}

/** Copies any value into deep-frozen real JSON, or refuses it with the path of the offender. */
export function copyValue(value: unknown, limits: ArgumentLimits, subject: JsonSubject): JsonValue {
  return copied(limits, subject, (state) => copyMember(state, value))
}

function copied<T>(limits: ArgumentLimits, subject: JsonSubject, copy: (state: Copying) => T): T {
  const state: Copying = { limits, chars: 0, trail: [], around: new Set(), fault: undefined }
  try {
    return copy(state)
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
  readonly around: Set<object>
  readonly trail: (string | number)[]
  /** What the walk itself refused the value for. */
  fault: JsonFault | undefined
}

function copyContainer(state: Copying, value: object): JsonArray | JsonObject {
  const { around, trail, limits } = state
  if (around.has(value)) throw refusal(state, 'cycle')
  if (around.size === limits.depth) {
    throw refusal(state, 'too-deep', `more than ${limits.depth} levels`)
  }
  const keys = keysOf(state, value)
  around.add(value)
  trail.push('')
  const copy = Array.isArray(value)
    ? copyArray(state, value)
    : copyObject(state, value as Record<string, unknown>, keys)
  around.delete(value)
  trail.pop()
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
  if (!isPlainObject(value)) {
    const detail = value instanceof Promise ? 'it is a Promise: await it first' : undefined
    throw refusal(state, 'not-plain', detail)
  }
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw refusal(state, 'unsupported-type', 'one of its keys is a symbol')
  }
  const keys = Object.keys(value)
  // Quotes, colon and comma of every key at once, so that a very wide object is refused before it is copied.
  // Keys of undefined properties count too: reading them takes time, and shared objects are read often.
  charge(state, 4 * keys.length + 2)
  return keys
}

function copyArray(state: Copying, value: readonly unknown[]): JsonArray {
  const { length } = value
  const copy: JsonValue[] = []
  for (let i = 0; i < length; i++) {
    state.trail[state.trail.length - 1] = i
    const member = value[i]
    if (member === undefined) {
      throw refusal(state, i in value ? 'unsupported-type' : 'sparse-array')
    }
    copy.push(copyMember(state, member))
  }
  return copy
}

function copyObject(
  state: Copying,
  value: Record<string, unknown>,
  keys: readonly string[],
): JsonObject {
  const copy: Record<string, JsonValue> = {}
  for (const key of keys) {
    state.trail[state.trail.length - 1] = key
    const member = value[key]
    if (member === undefined) continue
    if (!key.isWellFormed()) throw refusal(state, 'lone-surrogate')
    charge(state, key.length)
    setOwn(copy, key, copyMember(state, member))
  }
  return copy
}

function copyMember(state: Copying, member: unknown): JsonValue {
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
      return member === null ? null : copyContainer(state, member)
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
  const { limits } = state
  state.chars += chars
  if (state.chars <= limits.chars) return
  throw refusal(state, 'too-large', `more than ${limits.chars} characters`)
}

/** Ends the walk, and says why: what the trail points at breaks the rule. */
function refusal(state: Copying, rule: ArgumentRule, detail?: string): Error {
  state.fault = { rule, path: state.trail, detail }
  return new Error(rule)
}

/** True for objects made by `{}` or `JSON.parse` in any realm, and for those without a prototype. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
  )
}
