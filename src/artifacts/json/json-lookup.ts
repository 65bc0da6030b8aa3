import type { JsonValue } from '../../core/json/json.ts'
import { byteSlices } from '../../spool/byte-slices.ts'
import { type FilterOperand, type FilterOperator, satisfies } from '../query/json-filter.ts'
import type { Steps } from '../query/steps.ts'
import type { JsonType, MemberListener } from './json-member.ts'
import type { JsonPath } from './json-path.ts'
import { JsonScanner } from './json-scanner.ts'
import { valueOfBytes } from './json-value.ts'

/** A value inside an item, as it is written. */
export interface FoundValue {
  readonly type: JsonType
  readonly bytes: Uint8Array
}

const BACKSLASH = 0x5c
const BRACE = 0x7b
const BRACKET = 0x5b
const IGNORE: MemberListener = { begin: () => 'skip', end: () => 'continue' }

/** A step of a path made ready to look for in many items. */
export interface LookUpStep {
  readonly key: string
  readonly keyBytes: Uint8Array
  /** -1 when the step is not a position in an array. */
  readonly index: number
}

/** Makes a path ready to be looked up. */
export function lookUpSteps(path: JsonPath): readonly LookUpStep[] {
  return path.map((key) => ({
    key,
    keyBytes: new TextEncoder().encode(key),
    index: /^(0|[1-9]\d{0,15})$/.test(key) ? Number(key) : -1,
  }))
}

/** Follows a path inside an item, reading each byte once; of equal keys the first counts. */
export function* lookUp(
  item: Uint8Array,
  path: readonly LookUpStep[],
): Steps<FoundValue | undefined> {
  let rest = item
  for (const step of path) {
    if (rest[0] !== BRACE && rest[0] !== BRACKET) return undefined
    const start = yield* memberStart(rest, step)
    if (start === -1) return undefined
    rest = rest.subarray(start)
  }
  const scanner = new JsonScanner(IGNORE, { byte: 0 })
  yield* scan(scanner, rest)
  // What the item ends with is a number at its root.
  if (!scanner.done) scanner.finish()
  return { type: scanner.type ?? 'null', bytes: rest.subarray(0, scanner.position) }
}

/** Where the member begins that a step leads to; -1 if the container has no such member. */
function* memberStart(container: Uint8Array, step: LookUpStep): Steps<number> {
  const { key: wanted, keyBytes, index } = step
  if (container[0] === BRACKET && index === -1) return -1
  let found = -1
  let isWanted = false
  const scanner = new JsonScanner(
    {
      // Most keys differ in length or in some byte, and need not become text.
      wantsKey(raw) {
        isWanted = sameBytes(raw, keyBytes) || raw.includes(BACKSLASH)
        return isWanted
      },
      begin({ key, index: at, start }) {
        if (key === undefined ? at !== index : !isWanted || key !== wanted) return 'skip'
        found = start
        return 'stop'
      },
      end: () => 'continue',
    },
    { byte: 0 },
  )
  yield* scan(scanner, container)
  return found
}

/** The keys of an item that is an object, in order, at most `limit`. */
export function* keysOf(item: Uint8Array, limit: number): Steps<string[]> {
  const keys = new Set<string>()
  const scanner = new JsonScanner(
    {
      begin({ key }) {
        if (key === undefined) return 'stop'
        keys.add(key)
        return keys.size < limit ? 'skip' : 'stop'
      },
      end: () => 'continue',
    },
    { byte: 0 },
  )
  yield* scan(scanner, item)
  return [...keys]
}

/** Whether a field of an item satisfies a condition. */
export function* fieldSatisfies(
  item: Uint8Array,
  field: readonly LookUpStep[],
  operator: FilterOperator,
  operand: FilterOperand,
): Steps<boolean> {
  const found = yield* lookUp(item, field)
  return satisfies(yield* comparable(found, operator), operator, operand)
}

/** Containers equal nothing that a condition can name; a list is looked into for what it contains. */
function* comparable(
  found: FoundValue | undefined,
  operator: FilterOperator,
): Steps<JsonValue | undefined> {
  if (found === undefined) return undefined
  const isContainer = found.type === 'object' || found.type === 'array'
  const isLookedInto = found.type === 'array' && operator === 'contains'
  return isContainer && !isLookedInto ? {} : yield* valueOfBytes(found.bytes)
}

function* scan(scanner: JsonScanner, bytes: Uint8Array): Steps<void> {
  for (const slice of byteSlices(bytes)) {
    scanner.write(slice)
    if (scanner.stopped || scanner.done) return
    yield
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
