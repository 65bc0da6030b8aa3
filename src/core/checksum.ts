import { sha256Hex } from '#hash'
import { wrongInput } from './error/wrong-input.ts'
import { keepChecksum, knownChecksum } from './json/argument-facts.ts'
import { canonicalStringify } from './json/canonical.ts'

/** The content address of a call: SHA-256, in hex, of the canonical JSON of `{ tool, args }`. */
export function checksum(tool: string, args: unknown): string {
  if (typeof tool !== 'string') {
    throw wrongInput('checksum', 'tool', "must be a tool's name: `checksum('read_log', args)`")
  }
  // A call is asked for, announced, run and recorded under one checksum: it is computed once.
  const isObject = typeof args === 'object' && args !== null
  const known = isObject ? knownChecksum(args, tool) : undefined
  if (known !== undefined) return known
  const digest = sha256Hex(canonicalStringify({ args, tool }))
  if (isObject) keepChecksum(args, tool, digest)
  return digest
}
