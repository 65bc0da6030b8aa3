import { BobbinError } from './error.ts'
import { sortKeys } from './sort-keys.ts'

/** How many containers may stand inside each other in canonical JSON. */
export const CANONICAL_DEPTH_LIMIT = 1000

/**
 * How many members and containers one text may have: a few shared references, or an array of nothing but
 * holes, can stand for more of them than there is time to write.
 */
export const CANONICAL_MEMBER_LIMIT = 2 ** 24

/** No engine that Bobbin runs on holds longer strings in one piece on every platform. */
const LENGTH_LIMIT = 2 ** 29

/** Pieces are joined at this length: short enough to keep ropes of small strings few in memory. */
const CHUNK = 2 ** 16

/** From this many keys on, a flat object is cheaper to write natively with an explicit key list. */
const LISTED = 64

/**
 * The canonical text of any value that `JSON.stringify` takes, written piece by piece: correct for
 * everything, where the native short cuts of `canonicalStringify` are correct for most.
 */
export function writeCanonical(value: unknown, key: string, depth: number): string | undefined {
  const resolved = resolve(value, key)
  if (!hasText(resolved)) return undefined
  const left = CANONICAL_MEMBER_LIMIT
  const sink: Sink = { chunks: [], length: 0, text: '', ancestors: [], left }
  write(sink, resolved, depth)
  return sink.chunks.join('') + sink.text
}

interface Sink {
  readonly chunks: string[]
  /** Characters in `chunks`. */
  length: number
  text: string
  readonly ancestors: object[]
  /** How many members and containers may still come. */
  left: number
}

function append(sink: Sink, piece: string): void {
  sink.text += piece
  if (sink.text.length < CHUNK) return
  sink.length += sink.text.length
  if (sink.length > LENGTH_LIMIT) throw tooLong()
  // Reading a character makes engines flatten the rope, which frees its pieces.
  sink.text.charCodeAt(0)
  sink.chunks.push(sink.text)
  sink.text = ''
}

function write(sink: Sink, value: unknown, depth: number): void {
  if (typeof value === 'object' && value !== null) {
    enter(sink, value, depth)
    if (Array.isArray(value)) writeArray(sink, value, depth)
    else writeObject(sink, value as Record<string, unknown>, depth)
    sink.ancestors.pop()
    return
  }
  if (typeof value === 'bigint') throw new TypeError('Do not know how to serialize a BigInt')
  append(sink, typeof value === 'number' ? numberText(value) : JSON.stringify(value))
}

function writeArray(sink: Sink, value: readonly unknown[], depth: number): void {
  append(sink, '[')
  const { length } = value
  for (let i = 0; i < length; i++) {
    if (i > 0) append(sink, ',')
    const member = resolve(value[i], String(i))
    if (hasText(member)) write(sink, member, depth + 1)
    else append(sink, 'null')
  }
  append(sink, ']')
}

function writeObject(sink: Sink, value: Record<string, unknown>, depth: number): void {
  const keys = Object.keys(value)
  sink.left -= keys.length
  const flat = keys.length < LISTED ? undefined : flatText(value, keys)
  if (flat !== undefined) {
    append(sink, flat)
    return
  }
  sortKeys(keys)
  let separator = '{'
  for (const key of keys) {
    const member = resolve(value[key], key)
    if (!hasText(member)) continue
    append(sink, `${separator}${JSON.stringify(key)}:`)
    write(sink, member, depth + 1)
    separator = ','
  }
  append(sink, separator === '{' ? '{}' : '}')
}

/** What `JSON.stringify` writes in place of `value`: the answer of its `toJSON`, or what it boxes. */
function resolve(value: unknown, key: string): unknown {
  let resolved = value
  if (isReference(resolved) || typeof resolved === 'bigint') {
    const { toJSON } = resolved as { toJSON?: unknown }
    if (typeof toJSON === 'function') resolved = Reflect.apply(toJSON, resolved, [key])
  }
  return typeof resolved === 'object' && resolved !== null ? unbox(resolved) : resolved
}

function isReference(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function hasText(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}

function numberText(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null'
}

/** Unwraps `new String(…)` and its like with the conversions that the specification names. */
function unbox(value: object): unknown {
  const tag = Object.prototype.toString.call(value)
  if (tag === '[object Object]' || tag === '[object Array]') return value
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

/**
 * The canonical text of an object that holds nothing which nests or calls back: a key list makes native
 * `JSON.stringify` write such an object in order, whatever its keys. Sorts `keys`, its own ones.
 */
export function flatText(value: object, keys: string[]): string | undefined {
  const members = value as Record<string, unknown>
  if (typeof members['toJSON'] === 'function') return undefined
  let inOrder = true
  let previous: string | undefined
  for (const key of keys) {
    const member = members[key]
    if (isReference(member) || typeof member === 'bigint') return undefined
    if (previous !== undefined && previous >= key) inOrder = false
    previous = key
  }
  return inOrder ? JSON.stringify(value) : JSON.stringify(value, sortKeys(keys))
}

/** Steps into a container, unless that is a circle, too deep or one too many. */
function enter(sink: Pick<Sink, 'ancestors' | 'left'>, value: object, depth: number): void {
  const { ancestors } = sink
  // The ancestor at the last depth that is a power of two stands in for all (Brent's cycle finding);
  // only at the limit are all of them compared.
  const marker = ancestors[2 ** (31 - Math.clz32(ancestors.length)) - 1]
  if (value === marker) throw new TypeError('Cannot write a circular structure as JSON')
  ancestors.push(value)
  sink.left -= Array.isArray(value) ? value.length + 1 : 1
  if (depth <= CANONICAL_DEPTH_LIMIT && sink.left >= 0) return
  if (new Set(ancestors).size < ancestors.length) {
    throw new TypeError('Cannot write a circular structure as JSON')
  }
  if (sink.left < 0) throw tooLarge('members', CANONICAL_MEMBER_LIMIT)
  throw new BobbinError(
    'E_JSON_TOO_DEEP',
    `The value nests deeper than ${CANONICAL_DEPTH_LIMIT} levels, counted from its top; flatten it, or pass the deep part as text.`,
    { limit: CANONICAL_DEPTH_LIMIT },
  )
}

/**
 * Throws what the writer would in the end throw for a value of too many members, and spares the seconds in which it
 * would write the first of them. Gives up where only the writer knows how to go on.
 */
export function refuseTooLarge(value: object, depth: number): void {
  measure({ ancestors: [], left: CANONICAL_MEMBER_LIMIT, sizes: new Map() }, value, depth)
}

interface Measuring extends Pick<Sink, 'ancestors' | 'left'> {
  /** What large parts hold: one that is shared is gone over once, however often it stands there. */
  readonly sizes: Map<object, number>
}

const LARGE_PART = 1024
const MAX_PARTS = 10_000

/** Goes over a value as the writer does, keys as they come; false where the writer would call back or refuse. */
function measure(sink: Measuring, value: object, depth: number): boolean {
  const known = sink.sizes.get(value)
  if (known !== undefined) {
    sink.left -= known
    if (sink.left < 0) throw tooLarge('members', CANONICAL_MEMBER_LIMIT)
    return true
  }
  if (depth > CANONICAL_DEPTH_LIMIT) return false
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false
  // A boxed primitive would be written as what is in it.
  if (!Array.isArray(value) && !isPlain(value)) return false
  const { left } = sink
  enter(sink, value, depth)
  const keys = Array.isArray(value) ? undefined : Object.keys(value)
  sink.left -= keys?.length ?? 0
  const length = keys?.length ?? (value as readonly unknown[]).length
  for (let i = 0; i < length; i++) {
    const member = keys
      ? (value as Record<string, unknown>)[keys[i] as string]
      : (value as readonly unknown[])[i]
    if (typeof member === 'object' && member !== null) {
      if (!measure(sink, member, depth + 1)) return false
    } else if (typeof member === 'bigint' || typeof member === 'function') return false
  }
  sink.ancestors.pop()
  const size = left - sink.left
  if (size >= LARGE_PART && sink.sizes.size < MAX_PARTS) sink.sizes.set(value, size)
  return true
}

/** An object whose prototype is an `Object.prototype` (of any realm) or null: not a boxed primitive. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The value would give a text that is longer than any may be. */
export function tooLong(): BobbinError<'E_JSON_TOO_LARGE'> {
  return tooLarge('characters', LENGTH_LIMIT)
}

function tooLarge(what: 'members' | 'characters', limit: number): BobbinError<'E_JSON_TOO_LARGE'> {
  const message =
    `The value would be JSON of more than ${limit} ${what}: hand large parts over as text or as a stream, ` +
    'and write parts once that stand in several places.'
  return new BobbinError('E_JSON_TOO_LARGE', message, { what, limit })
}
