import type { JsonType } from './json-member.ts'

/** The type of the value that a byte begins, if it begins one. */
export function typeOf(byte: number): JsonType | undefined {
  if (byte === 0x22) return 'string'
  if (byte === 0x7b) return 'object'
  if (byte === 0x5b) return 'array'
  if (byte === 0x2d || isDigit(byte)) return 'number'
  if (byte === 0x74 || byte === 0x66) return 'boolean'
  return byte === 0x6e ? 'null' : undefined
}

const ESCAPED = new Set(new TextEncoder().encode('"\\/bfnrt'))
/** Whether a byte may follow a backslash, except `u`. */
export const isEscaped = (byte: number) => ESCAPED.has(byte)
/** Whether a byte is a hexadecimal digit. */
export const isHex = (byte: number) =>
  isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
/** Whether a byte is space to JSON. */
export const isSpace = (byte: number) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
/** Whether a byte is a decimal digit. */
export const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39
