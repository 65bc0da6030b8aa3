import type { JsonValue } from '../../core/json/json.ts'
import { decodeUtf8 } from '../../spool/line-text.ts'
import type { Steps } from '../query/steps.ts'

/** Up to here `JSON.parse` is done within a millisecond or two. */
const SMALL_BYTES = 32 * 1024
/** Values between two steps: well below a millisecond's worth. */
const VALUES_PER_STEP = 1_000

const BACKSLASH = 0x5c

/**
 * The value of bytes that are valid JSON, built in small steps: `JSON.parse` of 1 MB can take a third of a second.
 * It is what `JSON.parse` gives: of equal keys the last counts, and `__proto__` is a key like any other.
 */
export function* valueOfBytes(bytes: Uint8Array): Steps<JsonValue> {
  const text = decodeUtf8(bytes)
  if (bytes.length <= SMALL_BYTES) return JSON.parse(text) as JsonValue
  yield
  return yield* build(text)
}

/** A container under way: an object with the key of the member to come, or an array by where its items begin. */
interface Open {
  readonly object: Record<string, JsonValue> | undefined
  readonly from: number
  key: string
}

function* build(text: string): Steps<JsonValue> {
  const stack: Open[] = []
  // Items of all arrays under way: an array made at its end takes a tenth of the room of one that grew.
  const items: JsonValue[] = []
  let at = 0
  for (let count = 1; ; count++) {
    if (count % VALUES_PER_STEP === 0) yield
    at = skip(text, at)
    let value: JsonValue
    if (text[at] === ']' || text[at] === '}') {
      at++
      value = closed(stack.pop() as Open, items)
    } else {
      const top = stack.at(-1)
      if (top?.object !== undefined) {
        const end = stringEnd(text, at)
        top.key = JSON.parse(text.slice(at, end)) as string
        at = skip(text, end)
      }
      const first = text[at]
      if (first === '[' || first === '{') {
        at++
        stack.push({ object: first === '{' ? {} : undefined, from: items.length, key: '' })
        continue
      }
      const end = first === '"' ? stringEnd(text, at) : scalarEnd(text, at)
      if (end - at > SMALL_BYTES) yield
      value = JSON.parse(text.slice(at, end)) as JsonValue
      at = end
    }
    const parent = stack.at(-1)
    if (parent === undefined) return value
    if (parent.object === undefined) items.push(value)
    else put(parent.object, parent.key, value)
  }
}

function closed({ object, from }: Open, items: JsonValue[]): JsonValue {
  if (object !== undefined) return object
  const own = items.slice(from)
  items.length = from
  return own
}

function put(object: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value
  else {
    const own = { value, configurable: true, enumerable: true, writable: true }
    Object.defineProperty(object, key, own)
  }
}

/** Passes over space and what parts values. */
function skip(text: string, from: number): number {
  let at = from
  while (isBetween(text.charCodeAt(at))) at++
  return at
}

const isBetween = (unit: number) =>
  unit === 0x2c || unit === 0x3a || unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09

/** The index after the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let close = text.indexOf('"', start + 1)
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
  return close + 1
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text.charCodeAt(first - 1) === BACKSLASH) first--
  return (at - first) % 2 === 1
}

/** The index after the number or word that begins at `start`. */
function scalarEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && isScalar(text.charCodeAt(at))) at++
  return at
}

/** Digits, letters, `+`, `-` and `.`: no mark of JSON's and no space is among them. */
const isScalar = (unit: number) =>
  (unit >= 0x30 && unit <= 0x39) ||
  (unit >= 0x41 && unit <= 0x5a) ||
  (unit >= 0x61 && unit <= 0x7a) ||
  unit === 0x2b ||
  unit === 0x2d ||
  unit === 0x2e
