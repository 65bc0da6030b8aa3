import { BobbinError } from '../error/error.ts'

/** How many containers may stand inside each other in canonical JSON. */
export const CANONICAL_DEPTH_LIMIT = 1000

/**
 * How many members and containers one text may have. A few shared references, or an array of holes, can stand
 * for more members than can be written in reasonable time.
 */
const MEMBER_LIMIT = 2 ** 24

/** Engines cannot hold longer strings on every platform. */
const LENGTH_LIMIT = 2 ** 29

/** The text of a part with this many members is kept, because the part may be shared. */
const LARGE_PART = 1024

/**
 * Writes a value as `JSON.stringify` would, with object keys sorted by UTF-16 code unit at every level.
 *
 * Throws a plain `TypeError` for cycles and `BigInt`, `E_JSON_TOO_DEEP` and `E_JSON_TOO_LARGE` beyond the
 * limits. A value without a JSON form at the top level (`undefined`, a function, a symbol) gives `null`.
 */
export function canonicalStringify(value: unknown): string {
  const state: Writing = { left: MEMBER_LIMIT, around: new Set(), parts: new Map(), calls: 0 }
  let text: string
  try {
    text = write(state, value, '') ?? 'null'
  } catch (error) {
    // V8's error for a string that would be too long, wherever it was built.
    const isTooLong = error instanceof RangeError && error.message === 'Invalid string length'
    throw isTooLong ? tooLarge('characters', LENGTH_LIMIT) : error
  }
  if (text.length > LENGTH_LIMIT) throw tooLarge('characters', LENGTH_LIMIT)
  return text
}

interface Writing {
  /** How many members and containers may still come. */
  left: number
  /** The containers that the walk is in. */
  readonly around: Set<object>
  /** Large parts that were written. */
  readonly parts: Map<object, { readonly text: string; readonly size: number }>
  /** How often a `toJSON` was called: what holds one may be written differently the next time. */
  calls: number
}

/** The text of a value; `undefined` for what has none. */
function write(state: Writing, value: unknown, key: string): string | undefined {
  const resolved = mayHaveMethods(value) ? resolve(state, value, key) : value
  if (typeof resolved === 'bigint') throw new TypeError('Do not know how to serialize a BigInt')
  const isContainer = typeof resolved === 'object' && resolved !== null
  return isContainer ? writeContainer(state, resolved) : JSON.stringify(resolved)
}

function writeContainer(state: Writing, value: object): string {
  const { around, parts, left, calls } = state
  const known = parts.get(value)
  if (known !== undefined) {
    spend(state, known.size)
    return known.text
  }
  if (around.has(value)) throw new TypeError('Cannot write a circular structure as JSON')
  if (around.size === CANONICAL_DEPTH_LIMIT) throw tooDeep()
  around.add(value)
  const text = Array.isArray(value)
    ? writeArray(state, value)
    : writeObject(state, value as Record<string, unknown>)
  around.delete(value)
  const size = left - state.left
  if (size >= LARGE_PART && calls === state.calls) parts.set(value, { text, size })
  return text
}

function writeArray(state: Writing, list: readonly unknown[]): string {
  spend(state, list.length + 1)
  const members: string[] = []
  // By index: a method would pass over holes, which are written as `null`.
  for (let i = 0; i < list.length; i++) members.push(write(state, list[i], String(i)) ?? 'null')
  return `[${members.join(',')}]`
}

function writeObject(state: Writing, value: Record<string, unknown>): string {
  const keys = Object.keys(value).sort()
  spend(state, keys.length + 1)
  const members: string[] = []
  for (const key of keys) {
    const member = write(state, value[key], key)
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${member}`)
  }
  return `{${members.join(',')}}`
}

function spend(state: Writing, members: number): void {
  state.left -= members
  if (state.left < 0) throw tooLarge('members', MEMBER_LIMIT)
}

function mayHaveMethods(value: unknown): value is object {
  if (typeof value === 'object') return value !== null
  return typeof value === 'function' || typeof value === 'bigint'
}

/** What `JSON.stringify` writes in place of `value`: the result of its `toJSON`, or the primitive in a box. */
function resolve(state: Writing, value: object, key: string): unknown {
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON !== 'function') return typeof value === 'object' ? unbox(value) : value
  state.calls++
  const json: unknown = Reflect.apply(toJSON, value, [key])
  return typeof json === 'object' && json !== null ? unbox(json) : json
}

/** Unwraps `new String(…)` and other boxes with the conversions that the specification names. */
function unbox(value: object): unknown {
  if (Array.isArray(value)) return value
  const tag = Object.prototype.toString.call(value)
  if (tag === '[object Object]') return value
  if (boxes(Number.prototype, value)) return Number(value)
  if (boxes(String.prototype, value)) return Reflect.apply(String, undefined, [value])
  if (boxes(Boolean.prototype, value)) return Boolean.prototype.valueOf.call(value)
  if (boxes(BigInt.prototype, value)) return BigInt.prototype.valueOf.call(value)
  return value
}

function boxes(prototype: { valueOf(): unknown }, value: object): boolean {
  try {
    Reflect.apply(prototype.valueOf, value, [])
    return true
  } catch {
    return false
  }
}

function tooDeep(): BobbinError<'E_JSON_TOO_DEEP'> {
  const limit = CANONICAL_DEPTH_LIMIT
  const message = `The value nests deeper than ${limit} levels, counted from its top; flatten it, or pass the deep part as text.`
  return new BobbinError('E_JSON_TOO_DEEP', message, { limit })
}

function tooLarge(what: 'members' | 'characters', limit: number): BobbinError<'E_JSON_TOO_LARGE'> {
  const message =
    `The value would be JSON of more than ${limit} ${what}: pass large parts as text or as a stream, ` +
    'and include a part that is in several places only once.'
  return new BobbinError('E_JSON_TOO_LARGE', message, { what, limit })
}
