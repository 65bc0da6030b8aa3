import { hmacSha256, sha256Hex } from '#hash'
import { toHex } from '../../core/hex.ts'

/** How many bytes a conversation's key has. */
export const KEY_BYTES = 32

/** What a seal binds together. */
export interface Sealed {
  readonly key: Uint8Array
  readonly conversation: string
  /** Empty for the first turn. */
  readonly previous: string
  readonly digests: readonly string[]
}

/** Binds the digests of a turn, in order, to everything that was sealed before. */
export function sealOf({ key, conversation, previous, digests }: Sealed): string {
  const origin = previous === '' ? sha256Hex(JSON.stringify(conversation)) : previous
  // Every part has a fixed length, so different lists give different texts.
  return toHex(hmacSha256(derived(key, 'seal'), `${origin}\n${digests.join('\n')}`))
}

/** Tells a right key from a wrong one without giving it away. */
export function keyCheckOf(key: Uint8Array): string {
  return toHex(hmacSha256(derived(key, 'check'), 'bobbin')).slice(0, 16)
}

function derived(key: Uint8Array, purpose: string): Uint8Array {
  return hmacSha256(key, `bobbin/${purpose}/1`)
}
