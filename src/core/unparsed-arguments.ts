import { sha256Hex } from '#hash'
import { concatBytes } from './concat-bytes.ts'
import { cutText } from './error/cut-text.ts'
import type { JsonObject } from './json/json.ts'
import { valueText } from './value-text.ts'

const HEAD = 200

/**
 * What stands in a record for arguments that cannot be parsed: digest, size and beginning of what was
 * received, so that different broken calls stay different. Of a value that is neither text nor bytes,
 * they are those of `valueText`.
 */
export function unparsedArguments(value: unknown): JsonObject {
  const received = typeof value === 'string' || isBytes(value) ? value : valueText(value)
  const bytes = typeof received === 'string' ? encode(received) : received
  const $unparsed = { sha256: sha256Hex(bytes), bytes: bytes.byteLength, head: headOf(received) }
  return Object.freeze({ $unparsed: Object.freeze($unparsed) })
}

/** A view is never a proxy, so `instanceof` runs no foreign code on it. */
function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && value instanceof Uint8Array
}

function headOf(received: string | Uint8Array): string {
  // Four bytes hold any character; `stream` leaves out one that the cut would split.
  const text =
    typeof received === 'string'
      ? received.slice(0, HEAD + 1)
      : new TextDecoder('utf-8', { ignoreBOM: true }).decode(received.subarray(0, 4 * HEAD), {
          stream: received.byteLength > 4 * HEAD,
        })
  return cutText(text, HEAD).toWellFormed()
}

/**
 * UTF-8, in which halves of surrogate pairs, which have no UTF-8 form, get the three bytes that the
 * scheme would give them: an ordinary encoder would make all of them one and the same character.
 */
function encode(text: string): Uint8Array {
  const encoder = new TextEncoder()
  if (text.isWellFormed()) return encoder.encode(text)
  const parts: Uint8Array[] = []
  for (const part of text.split(/(\p{Surrogate})/u)) {
    const code = part.length === 1 ? part.charCodeAt(0) : 0
    const isHalf = code >= 0xd800 && code <= 0xdfff
    parts.push(isHalf ? threeBytes(code) : encoder.encode(part))
  }
  return concatBytes(parts)
}

function threeBytes(code: number): Uint8Array {
  return Uint8Array.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
}
