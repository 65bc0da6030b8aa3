import { hmacSha256, sha256Hex } from '#hash'
import { toHex } from '../core/hex.ts'

/** How many bytes a conversation's key has. */
export const KEY_BYTES = 32

/** What a seal binds together. */
export interface Sealed {
  readonly conversation: string
  /** Empty for the first turn. */
  readonly previous: string
  readonly digests: readonly string[]
}

/** Binds the digests of a turn, in order, to everything that was sealed before. */
export function sealOf({ key, ...sealed }: Sealed & { readonly key: Uint8Array }): string {
  return sealUnder(sealKeyOf(key), sealed)
}

/** The key under which a conversation's turns are sealed, from the conversation's own. */
export function sealKeyOf(key: Uint8Array): Uint8Array {
  return derived(key, 'seal')
}

/** What `sealOf` gives, for who has the key of seals already. */
export function sealUnder(key: Uint8Array, { conversation, previous, digests }: Sealed): string {
  const origin = previous === '' ? sha256Hex(JSON.stringify(conversation)) : previous
  // Every part has a fixed length, so no two lists give the same text.
  return toHex(hmacSha256(key, `${origin}\n${digests.join('\n')}`))
}

/** Tells a right key from a wrong one without giving it away. */
export function keyCheckOf(key: Uint8Array): string {
  return toHex(hmacSha256(derived(key, 'check'), 'bobbin')).slice(0, 16)
}

function derived(key: Uint8Array, purpose: string): Uint8Array {
  return hmacSha256(key, `bobbin/${purpose}/1`)
}
