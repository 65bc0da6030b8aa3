import { brief } from '../core/error/cut-text.ts'
import { BobbinError } from '../core/error/error.ts'

const DIGEST = /^[0-9a-f]{64}$/

/** Gives `digest` back, or throws `E_SPOOL_INVALID_NAME`: nothing else may ever become part of a path or key. */
export function assertDigest(digest: unknown): string {
  if (typeof digest === 'string' && digest.length === 64 && DIGEST.test(digest)) return digest
  const name = printable(digest)
  throw new BobbinError(
    'E_SPOOL_INVALID_NAME',
    `\`${name}\` is not a digest: a spool is addressed by 64 lower-case hexadecimal characters, ` +
      'the `digest` of the reader that `write` gave.',
    { name, rule: '64 lower-case hexadecimal characters' },
  )
}

/** A hostile name made short and visible, for messages. */
function printable(value: unknown): string {
  if (typeof value !== 'string') return typeof value
  return JSON.stringify(brief(value, 81)).slice(1, -1)
}
