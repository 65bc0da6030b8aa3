import type { ArgumentRule } from './error-codes.ts'
import type { JsonFault } from './json-error.ts'

/** True for whole numbers that JSON texts spell with digits only but doubles cannot tell apart. */
export function isUnsafeInteger(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
}

/** What one cheap pass over a JSON text finds out. */
export interface TextSurvey {
  /** Colons outside strings: how many members its objects have, duplicates included. */
  readonly members: number
  /** Something may break a rule; `findFault` knows. */
  readonly suspect: boolean
  readonly tooDeep: boolean
}

/** Looks over a text that may or may not be JSON, in linear time and without building anything. */
export function surveyText(text: string, depthLimit: number): TextSurvey {
  const escapes = text.includes('\\')
  let suspect = !text.isWellFormed()
  let members = 0
  let depth = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = escapes ? stringEnd(text, at) : plainStringEnd(text, at)
      continue
    }
    if (isNumberStart(code)) {
      const end = numberEnd(text, at)
      if (numberFault(text, at, end) !== undefined) suspect = true
      at = end
      continue
    }
    at++
    if (code === COLON) members++
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > depthLimit) return { members, suspect: true, tooDeep: true }
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return { members, suspect, tooDeep: false }
}

/** Names the first broken rule in a JSON text, slowly but in linear time. */
export function findFault(text: string, depthLimit: number): JsonFault | undefined {
  /** For each open container: the key or index it is at, and the keys it had (objects only). */
  const path: (string | number)[] = []
  const seen: (Set<string> | undefined)[] = []
  let atKey = false
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = stringEnd(text, at)
      const string = decode(text.slice(at, end))
      if (string === undefined) return undefined
      const keys = seen[seen.length - 1]
      if (atKey) path[path.length - 1] = string
      if (!string.isWellFormed()) return { rule: 'lone-surrogate', path }
      if (atKey && keys !== undefined) {
        if (keys.has(string)) return { rule: 'duplicate-key', path }
        keys.add(string)
      }
      atKey = false
      at = end
      continue
    }
    if (isNumberStart(code)) {
      const end = numberEnd(text, at)
      const rule = numberFault(text, at, end)
      if (rule !== undefined) return { rule, path }
      at = end
      continue
    }
    at++
    switch (code) {
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (path.length >= depthLimit) return { rule: 'too-deep', path }
        atKey = code === OPEN_BRACE
        path.push(atKey ? '' : 0)
        seen.push(atKey ? new Set() : undefined)
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        path.pop()
        seen.pop()
        atKey = false
        break
      case COMMA: {
        const last = path.length - 1
        const step = path[last]
        if (typeof step === 'number') path[last] = step + 1
        else atKey = true
      }
    }
  }
  return undefined
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The index behind the closing quote of the string that opens at `start`, or the end of the text. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
  return text.length
}

/** The same where the text has no backslash. */
function plainStringEnd(text: string, start: number): number {
  const close = text.indexOf('"', start + 1)
  return close < 0 ? text.length : close + 1
}

function isNumberStart(code: number): boolean {
  return (code >= 48 && code <= 57) || code === MINUS
}

function numberEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && isNumberPart(text.charCodeAt(at))) at++
  return at
}

/** Digits, `+`, `-`, `.`, `e` and `E`. */
function isNumberPart(code: number): boolean {
  if (code <= 57) return code >= 48 || code === MINUS || code === 0x2b || code === 0x2e
  return code === 0x65 || code === 0x45
}

function numberFault(text: string, start: number, end: number): ArgumentRule | undefined {
  const token =
    end - start > 15 || hasExponent(text, start, end) ? text.slice(start, end) : undefined
  if (token === undefined) return undefined
  const value = Number(token)
  // Number() also fails on what is no number at all; whether it is JSON is not the question here.
  if (Number.isNaN(value)) return undefined
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(value) ? undefined : 'unsafe-integer'
  if (!Number.isFinite(value)) return 'not-finite'
  return isUnsafeInteger(value) ? 'unsafe-integer' : undefined
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x65 || code === 0x45) return true
  }
  return false
}

function decode(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}
