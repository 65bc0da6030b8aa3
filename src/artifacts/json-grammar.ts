/** What kind of value begins with a byte. */
export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

// What may come next. Numbers have one state for each of their parts, from MINUS on.
export const VALUE = 0
export const FIRST_VALUE = 1
export const FIRST_KEY = 2
export const KEY = 3
export const COLON = 4
export const AFTER = 5
export const BETWEEN = 6
export const STRING = 7
export const ESCAPE = 8
export const HEX = 9
export const LITERAL = 10
export const DONE = 11
export const MINUS = 12
export const ZERO = 13
export const INTEGER = 14
export const POINT = 15
export const FRACTION = 16
export const EXPONENT = 17
export const EXPONENT_SIGN = 18
export const EXPONENT_DIGITS = 19

export const EXPECTED: readonly string[] = [
  'a value',
  'a value or `]`',
  'a key or `}`',
  'a key in quotes',
  '`:`',
  '`,` or the closing bracket',
  'a value',
  'the end of a string',
  'an escape such as \\n',
  'four hexadecimal digits',
  'true, false or null',
  'nothing more',
]

/** The type of the value that a byte begins, if it begins one. */
export function typeOf(byte: number): JsonType | undefined {
  if (byte === 0x22) return 'string'
  if (byte === 0x7b) return 'object'
  if (byte === 0x5b) return 'array'
  if (byte === 0x2d || isDigit(byte)) return 'number'
  if (byte === 0x74 || byte === 0x66) return 'boolean'
  return byte === 0x6e ? 'null' : undefined
}

/** The part of a number that a byte leads to; 0 when the byte does not belong to the number. */
export function nextInNumber(state: number, byte: number): number {
  if (isDigit(byte)) {
    if (state === INTEGER || state === FRACTION || state === EXPONENT_DIGITS) return state
    if (state === MINUS) return byte === 0x30 ? ZERO : INTEGER
    if (state === POINT) return FRACTION
    return state === ZERO ? 0 : EXPONENT_DIGITS
  }
  const isInteger = state === ZERO || state === INTEGER
  if (byte === 0x2e) return isInteger ? POINT : 0
  if (byte === 0x65 || byte === 0x45) return isInteger || state === FRACTION ? EXPONENT : 0
  return (byte === 0x2b || byte === 0x2d) && state === EXPONENT ? EXPONENT_SIGN : 0
}

/** Whether a number may end in this state. */
export const isNumber = (state: number) =>
  state === ZERO || state === INTEGER || state === FRACTION || state === EXPONENT_DIGITS

const ESCAPED = new Set(new TextEncoder().encode('"\\/bfnrt'))
export const isEscaped = (byte: number) => ESCAPED.has(byte)
export const isHex = (byte: number) =>
  isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
export const isSpace = (byte: number) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39
