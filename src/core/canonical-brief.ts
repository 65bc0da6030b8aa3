import { leadsOf, shapeOf } from './key-shape.ts'

/**
 * Canonical JSON of small plain values. Below a thousand characters a native `JSON.stringify` call
 * costs more than joining strings, and most arguments of tools are that small and come in few shapes.
 */

/** How many members a small value may have in all; what is larger is left to the native ways. */
const MEMBERS = 24

/**
 * Gives the canonical text of a small plain value, or `undefined` for whatever else; `keys` are its
 * own enumerable keys, none for an array.
 */
export function briefText(value: object, keys: string[]): string | undefined {
  left = MEMBERS
  return containerText(value, keys)
}

let left = 0

function containerText(value: object, keys: string[]): string | undefined {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined
  return Array.isArray(value)
    ? arrayText(value)
    : objectText(value as Record<string, unknown>, keys)
}

function arrayText(value: readonly unknown[]): string | undefined {
  const { length } = value
  left -= length
  if (left < 0) return undefined
  let text = '['
  for (let i = 0; i < length; i++) {
    const member = memberText(value[i])
    if (member === undefined) return undefined
    text += i === 0 ? member : `,${member}`
  }
  return `${text}]`
}

function objectText(value: Record<string, unknown>, keys: string[]): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  left -= keys.length
  // Only native `JSON.stringify` can tell an empty object from a boxed primitive in disguise.
  if (left < 0 || keys.length === 0) return undefined
  const shape = shapeOf(keys)
  const { sorted } = shape
  const leads = shape.leads ?? leadsOf(shape)
  let text = ''
  for (let i = 0; i < sorted.length; i++) {
    const member = memberText(value[sorted[i] as string])
    if (member === undefined) return undefined
    text += (leads[i] as string) + member
  }
  return `${text}}`
}

function memberText(member: unknown): string | undefined {
  switch (typeof member) {
    case 'string':
      return quoted(member)
    case 'number':
      return Number.isFinite(member) ? String(member) : 'null'
    case 'boolean':
      return member ? 'true' : 'false'
    case 'object':
      return member === null ? 'null' : containerText(member, keysOf(member))
    default:
      return undefined
  }
}

/** Arrays have no need of theirs. */
export function keysOf(value: object): string[] {
  return Array.isArray(value) ? NONE : Object.keys(value)
}

const NONE: string[] = []

const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/

function quoted(text: string): string {
  return text.length > 64 || ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
}
