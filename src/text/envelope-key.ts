import { hmacSha256 } from '#hash'

/** The label keeps this key apart from the other keys that one secret derives. */
const LABEL = 'bobbin/envelope/1'

/** The key of a conversation's envelope nonces, derived from its secret; it never leaves the process. */
export function envelopeKey(secret: Uint8Array, conversation: string): Uint8Array {
  return hmacSha256(secret, `${LABEL}\n${conversation}`)
}
