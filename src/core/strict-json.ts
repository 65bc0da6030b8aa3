import { isNormalized, markNormalized } from './argument-facts.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { ARGUMENTS, type JsonFault, type JsonSubject, jsonError } from './json-error.ts'
import { findFault, surveyText } from './json-scan.ts'
import { type ArgumentLimits, copyPlain, copyValue } from './plain-json.ts'

/** The limits for arguments; the depth leaves room for the records that canonical JSON wraps them in. */
export const ARGUMENT_LIMITS: ArgumentLimits = Object.freeze({ depth: 500, chars: 4 * 1024 * 1024 })

/**
 * Arguments as deep-frozen real JSON, from a JSON text or a plain object; refuses whatever JSON would
 * change or drop, undefined properties excepted, with `E_INVALID_ARGUMENTS` and the path of the offender.
 * What is no arguments has a subject of its own.
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
  // One pass over the text finds what parsing would hide, so that no valid text is parsed twice.
  const survey = surveyText(text, limits.depth)
  if (survey.tooDeep) throw jsonError(subject, textFault(text, limits) ?? TOO_DEEP)
  const value = parse(text, subject)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw notAnObject(value, subject)
  }
  const members = seal(value)
  if (survey.suspect || members !== survey.members || mayHaveHalves(text)) {
    const fault = textFault(text, limits)
    if (fault !== undefined) throw jsonError(subject, fault)
  }
  return finished(value as JsonObject, limits)
}

const TOO_DEEP: JsonFault = { rule: 'too-deep', path: [] }

function textFault(text: string, limits: ArgumentLimits): JsonFault | undefined {
  const fault = findFault(text, limits.depth)
  if (fault?.rule !== 'too-deep') return fault
  return { ...fault, detail: `more than ${limits.depth} levels` }
}

const notAnObject = (value: unknown, subject: JsonSubject) =>
  jsonError(subject, { rule: 'not-an-object', path: [], detail: `it is ${kindOf(value)}` })

/** The mark comes first: engines may refuse to put one on what is frozen. */
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

/** Escapes of surrogates may come in pairs or alone; only the slow path tells. */
function mayHaveHalves(text: string): boolean {
  return text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)
}

/** Freezes what a parsed value holds, makes minus zeros plain, and counts the members of all objects. */
function seal(value: object): number {
  let members = 0
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const member: unknown = value[i]
      if (typeof member === 'object' && member !== null) members += sealed(member)
      else if (member === 0) value[i] = 0
    }
  } else {
    const keys = Object.keys(value)
    members = keys.length
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      const member = (value as Record<string, unknown>)[key]
      if (typeof member === 'object' && member !== null) members += sealed(member)
      else if (member === 0) (value as Record<string, unknown>)[key] = 0
    }
  }
  return members
}

function sealed(value: object): number {
  const members = seal(value)
  Object.freeze(value)
  return members
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
