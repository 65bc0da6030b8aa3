import type { ArgumentRule } from '../error/error-codes.ts'
import type { JsonFault } from './json-error.ts'

/** True for whole numbers that JSON texts spell with digits only but doubles cannot tell apart. */
export function isUnsafeInteger(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21
}

/** Names the first broken rule in a text that may or may not be JSON, of those that count, in linear time. */
export function findFault(
  text: string,
  depthLimit: number,
  counts: (fault: JsonFault) => boolean = () => true,
): JsonFault | undefined {
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
      const keys = seen.at(-1)
      if (atKey) path[path.length - 1] = string
      const isTwice = atKey && keys?.has(string) === true
      if (atKey) keys?.add(string)
      const rule = string.isWellFormed() ? isTwice && 'duplicate-key' : 'lone-surrogate'
      if (rule && counts({ rule, path })) return { rule, path }
      atKey = false
      at = end
      continue
    }
    if (isNumberStart(code)) {
      const end = numberEnd(text, at)
      const rule = numberFault(text, at, end)
      if (rule !== undefined && counts({ rule, path })) return { rule, path }
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

// The next three find values in a text that is known to be JSON, without parsing it: parsing merges
// duplicate keys and rounds integers, and arguments must be judged as they were sent.

/** Where the value of a member begins; of duplicates the last, which is the one that parsing keeps. */
export function memberAt(text: string, object: number, name: string): number {
  let found = object
  let at = skipSpace(text, skipSpace(text, object) + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at)
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1)
    if (decode(text.slice(at, keyEnd)) === name) found = value
    at = nextValue(text, value)
  }
  return found
}

/** Where each element of a list begins. */
export function elementsAt(text: string, list: number): readonly number[] {
  const starts: number[] = []
  let at = skipSpace(text, list + 1)
  while (at < text.length && !isClose(text.charCodeAt(at))) {
    starts.push(at)
    at = nextValue(text, at)
  }
  return starts
}

/** The text of the value that begins there. */
export function textAt(text: string, start: number): string {
  return text.slice(start, valueEnd(text, start))
}

/** Where the next value or key of the same container begins, or where the container ends. */
function nextValue(text: string, start: number): number {
  const end = skipSpace(text, valueEnd(text, start))
  return text.charCodeAt(end) === COMMA ? skipSpace(text, end + 1) : end
}

/** The index after a value. The text is known to be JSON, so counting brackets is enough. */
function valueEnd(text: string, start: number): number {
  let depth = 0
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    const closes = isClose(code)
    // A number or a word ends where its container continues or ends.
    if (depth === 0 && (closes || code === COMMA || isSpace(code))) return at
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    if (closes) depth--
    at = code === QUOTE ? stringEnd(text, at) : at + 1
    if (depth === 0 && (closes || code === QUOTE)) return at
  }
  return at
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function isClose(code: number): boolean {
  return code === CLOSE_BRACE || code === CLOSE_BRACKET
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The index after the closing quote of the string that opens at `start`, or the end of the text. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
  return text.length
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
  const token = text.slice(start, end)
  // A short number without an exponent is small enough.
  if (token.length <= 15 && !/e/i.test(token)) return undefined
  const value = Number(token)
  // `Number()` also fails on text that is not a number; whether it is valid JSON is checked elsewhere.
  if (Number.isNaN(value)) return undefined
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(value) ? undefined : 'unsafe-integer'
  if (!Number.isFinite(value)) return 'not-finite'
  return isUnsafeInteger(value) ? 'unsafe-integer' : undefined
}

function decode(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}
