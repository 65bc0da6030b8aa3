import { argumentError } from './argument-error.ts'
import { isNormalized, markNormalized } from './argument-facts.ts'
import type { JsonObject } from './json.ts'
import { findFault, surveyText } from './json-scan.ts'
import { type ArgumentLimits, copyPlain } from './plain-json.ts'

export type { ArgumentLimits } from './plain-json.ts'
export { unparsedArguments } from './unparsed-arguments.ts'

/** The limits for arguments; the depth leaves room for the records that canonical JSON wraps them in. */
export const ARGUMENT_LIMITS: ArgumentLimits = Object.freeze({ depth: 500, chars: 4 * 1024 * 1024 })

/**
 * Arguments as deep-frozen real JSON, from a JSON text or a plain object; refuses whatever JSON would
 * change or drop, undefined properties excepted, with `E_INVALID_ARGUMENTS` and the path of the offender.
 */
export function normalizeArguments(
  value: unknown,
  limits: ArgumentLimits = ARGUMENT_LIMITS,
): JsonObject {
  if (typeof value === 'string') return parseArguments(value, limits)
  if (typeof value !== 'object' || value === null) {
    throw argumentError('not-an-object', [], `it is ${kindOf(value)}`)
  }
  if (limits === ARGUMENT_LIMITS && isNormalized(value)) return value as JsonObject
  return finished(copyPlain(value, limits), limits)
}

/** Parses the JSON text of an object more strictly than `JSON.parse`: what it returns is what was sent. */
export function parseArguments(text: string, limits: ArgumentLimits = ARGUMENT_LIMITS): JsonObject {
  if (text.length > limits.chars) {
    throw argumentError('too-large', [], `more than ${limits.chars} characters`)
  }
  // One pass over the text finds what parsing would hide, so that no valid text is parsed twice.
  const survey = surveyText(text, limits.depth)
  if (survey.tooDeep) throw textError(text, limits) ?? argumentError('too-deep', [])
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw argumentError('not-an-object', [], `it is ${kindOf(value)}`)
  }
  const members = seal(value)
  if (survey.suspect || members !== survey.members || mayHaveHalves(text)) {
    const error = textError(text, limits)
    if (error !== undefined) throw error
  }
  return finished(value as JsonObject, limits)
}

function textError(text: string, limits: ArgumentLimits): Error | undefined {
  const fault = findFault(text, limits.depth)
  if (fault === undefined) return undefined
  const detail = fault.rule === 'too-deep' ? `more than ${limits.depth} levels` : undefined
  return argumentError(fault.rule, fault.path, detail)
}

/** The mark comes first: engines may refuse to put one on what is frozen. */
function finished(result: JsonObject, limits: ArgumentLimits): JsonObject {
  if (limits === ARGUMENT_LIMITS) markNormalized(result)
  return Object.freeze(result)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The engine's message quotes the text, which may be anything, so it is read but not passed on.
    const { message } = error as Error
    const position = /position (\d+)/.exec(message)?.[1]
    const endsEarly = /end of|unterminated/i.test(message) || Number(position) >= text.length
    const where = endsEarly ? 'it ends too early' : position && `at character ${position}`
    throw argumentError('not-json', [], where)
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
