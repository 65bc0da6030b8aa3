import { briefText, keysOf } from './canonical-brief.ts'
import {
  CANONICAL_DEPTH_LIMIT,
  CANONICAL_MEMBER_LIMIT,
  flatText,
  isPlain,
  refuseTooLarge,
  tooLong,
  writeCanonical,
} from './canonical-writer.ts'
import { shapeOf } from './key-shape.ts'

/**
 * Writes a value as `JSON.stringify` would, with object keys sorted by UTF-16 code unit at every level.
 *
 * Throws a plain `TypeError` for cycles and `BigInt`, `E_JSON_TOO_DEEP` and `E_JSON_TOO_LARGE` beyond the
 * limits; what has no JSON form at the top level (`undefined`, a function, a symbol) gives `null`.
 */
export function canonicalStringify(value: unknown): string {
  return canonicalMember(value, '', 1) ?? 'null'
}

/**
 * The canonical text of `holder[key]`, for a holder whose own text is built by the caller; `depth` is
 * the level at which the value stands. Gives `undefined` where `JSON.stringify` would leave it out.
 */
export function canonicalMember(value: unknown, key: string, depth: number): string | undefined {
  try {
    return memberText(value, key, depth)
  } catch (error) {
    // What V8 says of a string that would be too long, wherever it was put together.
    const isTooLong = error instanceof RangeError && error.message === 'Invalid string length'
    throw isTooLong ? tooLong() : error
  }
}

function memberText(value: unknown, key: string, depth: number): string | undefined {
  if (typeof value === 'object' && value !== null) {
    const keys = keysOf(value)
    const short = keys.length > WIDE ? flatText(value, keys) : briefText(value, keys)
    if (short !== undefined) return short
    // Native `JSON.stringify` is several times faster than any writer in JavaScript, so everything that
    // it would get right is left to it: values in order as they are, plain ones after a sorting copy.
    budget = SURVEY_BUDGET
    const verdict = survey(value, depth, undefined)
    if (verdict === IN_ORDER) return JSON.stringify(value)
    if (verdict === OUT_OF_ORDER) {
      budget = COPY_BUDGET
      const sorted = sortedCopy(value, depth, undefined)
      if (sorted !== GIVE_UP) return JSON.stringify(sorted)
    }
    // Whoever looked at so many members that nothing was left may have seen too many.
    if (budget < 0) refuseTooLarge(value, depth)
    return writeCanonical(value, key, depth)
  }
  if (typeof value === 'bigint' || typeof value === 'function') {
    return writeCanonical(value, key, depth)
  }
  return JSON.stringify(value)
}

/** `JSON.stringify` writes the canonical form of this value. */
const IN_ORDER = 0
/** Keys have to be sorted; nothing else is known about the rest of the value. */
const OUT_OF_ORDER = 1
/** Something that only the writer gets right: `toJSON`, `BigInt`, a cycle, great depth. */
const IRREGULAR = 2
type Verdict = typeof IN_ORDER | typeof OUT_OF_ORDER | typeof IRREGULAR

// A few shared references can stand for more members than any string could hold, so both walks count
// what they visit and leave the rest to the writer, which refuses what is too large.
const SURVEY_BUDGET = CANONICAL_MEMBER_LIMIT
const COPY_BUDGET = 2 ** 22
let budget = 0

/** Beyond this many keys an object is a hash table, which is costlier to build than to write out. */
const WIDE = 4096

/**
 * Looks whether native `JSON.stringify` would give the canonical form; stops at the first obstacle.
 *
 * `marker` is an ancestor, renewed at every depth that is a power of two: a path that goes in circles
 * meets it soon, at the price of one comparison (Brent's cycle finding).
 */
function survey(value: object, depth: number, marker: object | undefined): Verdict {
  if (isIrregular(value, depth, marker)) return IRREGULAR
  const next = isPowerOfTwo(depth) ? value : marker
  if (Array.isArray(value)) {
    const { length } = value
    for (let i = 0; i < length; i++) {
      const verdict = surveyMember(value[i], depth, next)
      if (verdict !== IN_ORDER) return verdict
    }
    return IN_ORDER
  }
  // `for in` is twice as fast as `Object.keys` here. Inherited keys, which it visits too, come after the
  // own ones and can only make the verdict more careful than need be.
  let previous: string | undefined
  for (const key in value) {
    if (previous !== undefined && previous >= key) return OUT_OF_ORDER
    previous = key
    budget--
    const verdict = surveyMember((value as Record<string, unknown>)[key], depth, next)
    if (verdict !== IN_ORDER) return verdict
  }
  return IN_ORDER
}

function surveyMember(member: unknown, depth: number, marker: object | undefined): Verdict {
  if (typeof member === 'object') {
    return member === null ? IN_ORDER : survey(member, depth + 1, marker)
  }
  return isIrregularLeaf(member) ? IRREGULAR : IN_ORDER
}

const GIVE_UP: unique symbol = Symbol('give up')

/** Copies what native `JSON.stringify` would read, keys in order, or gives up in favour of the writer. */
function sortedCopy(
  value: object,
  depth: number,
  marker: object | undefined,
): object | typeof GIVE_UP {
  if (isIrregular(value, depth, marker)) return GIVE_UP
  const next = isPowerOfTwo(depth) ? value : marker
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    const { length } = value
    for (let i = 0; i < length; i++) {
      const member = copyMember(value[i], depth, next)
      if (member === GIVE_UP) return GIVE_UP
      copy.push(member)
    }
    return copy
  }
  const keys = Object.keys(value)
  // An object without keys may be a boxed primitive, which native `JSON.stringify` unwraps.
  if (keys.length === 0) return value
  if (keys.length > WIDE || !isPlain(value)) return GIVE_UP
  budget -= keys.length
  const { sorted, hasDigits } = shapeOf(keys)
  if (hasDigits) return GIVE_UP
  const copy = new Bare() as Record<string, unknown>
  for (let i = 0; i < sorted.length; i++) {
    const key = sorted[i] as string
    const member = copyMember((value as Record<string, unknown>)[key], depth, next)
    if (member === GIVE_UP) return GIVE_UP
    copy[key] = member
  }
  return copy
}

function copyMember(member: unknown, depth: number, marker: object | undefined): unknown {
  if (typeof member === 'object') {
    return member === null ? null : sortedCopy(member, depth + 1, marker)
  }
  return isIrregularLeaf(member) ? GIVE_UP : member
}

/** Whether the careful writer has to see it. Each look takes one from the budget. */
function isIrregular(value: object, depth: number, marker: object | undefined): boolean {
  return (
    value === marker ||
    depth > CANONICAL_DEPTH_LIMIT ||
    (budget -= Array.isArray(value) ? value.length + 1 : 1) < 0 ||
    typeof (value as { toJSON?: unknown }).toJSON === 'function'
  )
}

/** Both may have a `toJSON`; a function without one is left out, and that is the writer's job as well. */
function isIrregularLeaf(member: unknown): boolean {
  return typeof member === 'bigint' || typeof member === 'function'
}

function isPowerOfTwo(depth: number): boolean {
  return (depth & (depth - 1)) === 0
}

/**
 * An object that inherits nothing, so that `__proto__` and every other key are plain data in it. A
 * constructor, because `Object.create(null)` gives hash tables, which are slow to write.
 */
const Bare = function () {} as unknown as new () => object
Bare.prototype = Object.freeze(Object.create(null)) as object
