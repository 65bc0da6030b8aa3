import { sha256Hex } from '#hash'
import { canonicalMember } from './canonical.ts'

/** The content address of a call: SHA-256, in hex, of the canonical JSON of `{ tool, args }`. */
export function checksum(tool: string, args: unknown): string {
  // `args` sorts before `tool`; writing the outer object by hand spares a second walk over it.
  const text = canonicalMember(args, 'args', 2)
  const head = text === undefined ? '{' : `{"args":${text},`
  return sha256Hex(`${head}"tool":${JSON.stringify(tool)}}`)
}
