import { isNormalized, markNormalized } from './argument-facts.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { ARGUMENTS, type JsonFault, type JsonSubject, jsonError } from './json-error.ts'
import { findFault } from './json-scan.ts'
import { type ArgumentLimits, copyPlain, copyValue } from './plain-json.ts'

/** The limits for arguments; the depth leaves room for the records that canonical JSON wraps them in. */
export const ARGUMENT_LIMITS: ArgumentLimits = Object.freeze({ depth: 500, chars: 4 * 1024 * 1024 })

/**
 * Arguments as deep-frozen real JSON, from a JSON text or a plain object; refuses whatever JSON would
 * change or drop, undefined properties excepted, with `E_INVALID_ARGUMENTS` and the path of the offender.
 * Other callers pass a subject, which names the value in errors.
 */
export function normalizeArguments(
  value: unknown,
  limits: ArgumentLimits = ARGUMENT_LIMITS,
  subject: JsonSubject = ARGUMENTS,
): JsonObject {
  if (typeof value === 'string') return parseArguments(value, limits, subject)
  if (typeof value !== 'object' || value === null) throw notAnObject(value, subject)
  if (limits === ARGUMENT_LIMITS && isNormalized(value)) return value as JsonObject
  return finished(copyPlain(value, limits, subject), limits)
}

/** Any value as deep-frozen real JSON, by the same rules; refused in the words of its subject. */
export function normalizeJson(
  value: unknown,
  subject: JsonSubject,
  limits: ArgumentLimits = ARGUMENT_LIMITS,
): JsonValue {
  return copyValue(value, limits, subject)
}

/** Parses the JSON text of an object more strictly than `JSON.parse`: what it returns is what was sent. */
export function parseArguments(
  text: string,
  limits: ArgumentLimits = ARGUMENT_LIMITS,
  subject: JsonSubject = ARGUMENTS,
): JsonObject {
  if (text.length > limits.chars) {
    const detail = `more than ${limits.chars} characters`
    throw jsonError(subject, { rule: 'too-large', path: [], detail })
  }
  // Parsing would hide what the text says twice or cannot say.
  const fault = textFault(text, limits)
  if (fault?.rule === 'too-deep') throw jsonError(subject, fault)
  const value = parse(text, subject)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw notAnObject(value, subject)
  }
  if (fault !== undefined) throw jsonError(subject, fault)
  sealMembers(value as Members)
  return finished(value as JsonObject, limits)
}

function textFault(text: string, limits: ArgumentLimits): JsonFault | undefined {
  const fault = findFault(text, limits.depth)
  if (fault?.rule !== 'too-deep') return fault
  return { ...fault, detail: `more than ${limits.depth} levels` }
}

const notAnObject = (value: unknown, subject: JsonSubject) =>
  jsonError(subject, { rule: 'not-an-object', path: [], detail: `it is ${kindOf(value)}` })

function finished(result: JsonObject, limits: ArgumentLimits): JsonObject {
  if (limits === ARGUMENT_LIMITS) markNormalized(result)
  return Object.freeze(result)
}

function parse(text: string, subject: JsonSubject): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The engine's message quotes the text, which may be anything, so it is read but not passed on.
    const { message } = error as Error
    const position = /position (\d+)/.exec(message)?.[1]
    const endsEarly = /end of|unterminated/i.test(message) || Number(position) >= text.length
    const where = endsEarly ? 'it ends too early' : position && `at character ${position}`
    throw jsonError(subject, { rule: 'not-json', path: [], detail: where })
  }
}

type Members = Record<string, unknown>

/** Freezes what a parsed list or object holds, and makes minus zeros plain. */
function sealMembers(parent: Members): void {
  for (const key of Object.keys(parent)) {
    const member = parent[key]
    if (member === 0) parent[key] = 0
    if (typeof member !== 'object' || member === null) continue
    sealMembers(member as Members)
    Object.freeze(member)
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
