/** Finds values in text and in bytes, in every form that `formsOf` knows. */
export interface SecretForms {
  readonly text: RegExp
  /** For bytes as `binaryText` gives them. */
  readonly bytes: RegExp
  /** No form is longer, in characters or bytes. */
  readonly longest: number
}

/** A character is at most `%E2%82%AC`; two units of a pair are at most twelve. */
const LONGEST_UNIT = 9

/**
 * The forms of values: each character plain, escaped as JSON may escape it (`\/`, `\n`, `\u00e9`), or as URLs and forms write
 * it (`%2F`, `%2f`, `+` for a space). Characters of one value may have different forms: writers escape what they like.
 */
export function formsOf(values: readonly string[]): SecretForms {
  const longestFirst = [...new Set(values)].sort((a, b) => b.length - a.length)
  const patternOf = (exact: (text: string) => string) =>
    new RegExp(longestFirst.map((value) => formsPattern(value, exact)).join('|'), 'g')
  const longest = (longestFirst[0]?.length ?? 0) * LONGEST_UNIT
  return { text: patternOf(exactUnits), bytes: patternOf(exactBytes), longest }
}

/** Backslashes in a row are one part: they are all escaped or none is, so that the search never has to guess. */
const PARTS = /\\+|[^\\]/gsu

function formsPattern(value: string, exact: (text: string) => string): string {
  const parts = value.match(PARTS) ?? []
  return parts.map((part) => `(?:${partForms(part, exact).join('|')})`).join('')
}

/** The forms of one part, longer ones before those that they begin with. */
function partForms(part: string, exact: (text: string) => string): readonly string[] {
  const short = part.replace(/["\\/\b\f\n\r\t]/g, (char) => SHORT_ESCAPES[char] ?? char)
  const forms = [jsonEscapes(part), urlEscapes(part)]
  if (short !== part) forms.push(exact(short))
  if (part === ' ') forms.push(exact('+'))
  return [...forms, exact(part)]
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

const encoder = new TextEncoder()
const units = (text: string) => Array.from(text.split(''), (unit) => unit.charCodeAt(0))
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')
const anyCase = (digits: string) =>
  digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)

const exactUnits = (text: string) =>
  units(text)
    .map((code) => `\\u${hex(code, 4)}`)
    .join('')
const exactBytes = (text: string) =>
  Array.from(encoder.encode(text), (byte) => `\\x${hex(byte, 2)}`).join('')
const jsonEscapes = (text: string) =>
  units(text)
    .map((code) => `\\\\u${anyCase(hex(code, 4))}`)
    .join('')
const urlEscapes = (text: string) =>
  Array.from(encoder.encode(text), (byte) => `%${anyCase(hex(byte, 2))}`).join('')

/** More would not fit on the stack. */
const SLICE = 8192

/** Bytes as text, one character for each byte. */
export function binaryText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += SLICE) {
    // Spreading the bytes instead takes five times as long.
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + SLICE))
  }
  return text
}
