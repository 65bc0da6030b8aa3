import { thrownText } from '../../core/error/thrown-text.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { normalizeJson } from '../../core/json/strict-json.ts'
import { hidesSomething, shownBriefly } from './stranger-text.ts'

/** A schema that may be shown to a model, and what of it can be checked here in bounded time. */
export interface SafeSchema {
  readonly shown: JsonObject
  /** Without patterns, which a server could make slow. Undefined if the schema is recursive or expands without bound. */
  readonly checked: JsonObject | undefined
}

const MAX_CHARS = 65_536
const MAX_DEPTH = 64
const MAX_TEXT = 1_024
/** How large a schema may become when every reference in it is written out. */
const MAX_EXPANDED = 20_000

const TEXTS = new Set(['description', 'title', '$comment'])
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']
/** Keywords whose schemas apply to the same value. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', '$ref']

/** Reads a schema of a server. Throws a plain error that says why it cannot be used. */
export function safeSchema(given: unknown): SafeSchema {
  const schema = readSchema(given)
  if (JSON.stringify(schema).length > MAX_CHARS) {
    throw new Error(`its schema has more than ${MAX_CHARS} characters`)
  }
  const root = shownPart(schema, undefined) as JsonObject
  refuseLoops(root)
  const isBounded = expandedSize(root, root, new Map()) <= MAX_EXPANDED
  return { shown: root, checked: isBounded ? (withoutPatterns(root) as JsonObject) : undefined }
}

function readSchema(given: unknown): JsonObject {
  let schema: JsonValue
  try {
    const limits = { depth: MAX_DEPTH, chars: 4 * MAX_CHARS }
    schema = normalizeJson(given, { root: 'schema', code: 'E_INVALID_OUTPUT' }, limits)
  } catch (error) {
    throw new Error(`its schema cannot be read: ${shownBriefly(thrownText(error), 200)}`, {
      cause: error,
    })
  }
  if (isJsonObject(schema)) return schema
  throw new Error('its schema is not an object')
}

/** A copy whose texts are cut and shown. Whatever else hides characters cannot be shown without changing its meaning. */
function shownPart(part: JsonValue, key: string | undefined): JsonValue {
  if (typeof part === 'string') {
    if (key !== undefined && TEXTS.has(key)) return shownBriefly(part, MAX_TEXT)
    if (hidesSomething(part)) throw new Error('its schema has a text with hidden characters')
    return part
  }
  if (Array.isArray(part)) return part.map((each: JsonValue) => shownPart(each, undefined))
  if (!isJsonObject(part)) return part
  const entries = Object.entries(part).map(([name, value]) => {
    if (hidesSomething(name)) throw new Error('its schema has a name with hidden characters')
    if (REFERENCES.includes(name) && typeof value === 'string' && !value.startsWith('#')) {
      throw new Error('its schema refers to another document')
    }
    return [name, shownPart(value, name)] as const
  })
  return Object.fromEntries(entries)
}

/** Refuses a schema that refers to itself for the same value: providers refuse it, and checking it never ends. */
function refuseLoops(root: JsonObject): void {
  const done = new Set<JsonValue>()
  const within = new Set<JsonValue>()
  const visit = (part: JsonValue | undefined): void => {
    if (part === undefined || !isJsonObject(part) || done.has(part)) return
    if (within.has(part)) throw new Error('its schema refers to itself without end')
    within.add(part)
    for (const keyword of IN_PLACE) {
      const value = part[keyword]
      if (typeof value === 'string') visit(targetOf(root, value))
      else if (Array.isArray(value)) for (const each of value) visit(each as JsonValue)
      else visit(value)
    }
    within.delete(part)
    done.add(part)
  }
  const every = (part: JsonValue): void => {
    visit(part)
    for (const each of childrenOf(part)) every(each)
  }
  every(root)
}

/** How many parts a schema has with every reference written out; infinite if it is recursive. */
function expandedSize(root: JsonObject, part: JsonValue, known: Map<JsonValue, number>): number {
  if (typeof part !== 'object' || part === null) return 1
  const found = known.get(part)
  if (found !== undefined) return found
  known.set(part, Number.POSITIVE_INFINITY)
  const target = isJsonObject(part) ? targetOf(root, part['$ref']) : undefined
  let size = target === undefined ? 1 : expandedSize(root, target, known)
  for (const each of childrenOf(part)) size += expandedSize(root, each, known)
  known.set(part, size)
  return size
}

/** What a reference within the schema points at; undefined if it points at nothing. */
function targetOf(root: JsonObject, reference: JsonValue | undefined): JsonValue | undefined {
  if (typeof reference !== 'string') return undefined
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let part: JsonValue | undefined = root
  for (const step of reference.slice(2).split('/')) {
    if (typeof part !== 'object' || part === null) return undefined
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    part = Object.hasOwn(part, name) ? (Reflect.get(part, name) as JsonValue) : undefined
  }
  return part
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** Patterns run on an engine that a hostile one can stall; the server checks them itself. */
function withoutPatterns(part: JsonValue): JsonValue {
  if (Array.isArray(part)) return part.map((each: JsonValue) => withoutPatterns(each))
  if (!isJsonObject(part)) return part
  const hasNamePatterns = isJsonObject(part['patternProperties'] ?? null)
  const left = Object.entries(part).filter(([name, value]) => {
    if (name === 'pattern') return typeof value !== 'string'
    // Without the patterns, the properties that they allow would count as additional ones.
    return !hasNamePatterns || !NAMES_OF_OTHERS.includes(name)
  })
  return Object.fromEntries(left.map(([name, value]) => [name, withoutPatterns(value)]))
}

const NAMES_OF_OTHERS = ['patternProperties', 'additionalProperties', 'unevaluatedProperties']

const childrenOf = (part: JsonValue): readonly JsonValue[] =>
  typeof part === 'object' && part !== null ? Object.values(part) : []

/** A text of a server; anything else counts as none. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
