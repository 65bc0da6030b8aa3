import { hmacSha256 } from '#hash'
import { wrongInput } from '../core/error/wrong-input.ts'

/** The key of a conversation whose runner has a `conversationSecret`. Keep it as secret as that. */
export function conversationKey(conversationSecret: Uint8Array, conversation: string): Uint8Array {
  const isSecret = ArrayBuffer.isView(conversationSecret) && conversationSecret.byteLength >= 32
  if (!isSecret) {
    const rule = 'must be a Uint8Array of at least 32 random bytes'
    throw wrongInput('conversationKey', 'conversationSecret', rule)
  }
  if (typeof conversation !== 'string' || conversation === '') {
    throw wrongInput('conversationKey', 'conversation', 'must be a non-empty string')
  }
  return hmacSha256(conversationSecret, `bobbin/conversation/1\n${conversation}`)
}
