import { hmacSha256 } from '#hash'
import { toHex } from '../core/hex.ts'

const LABEL = 'bobbin/prompt-cache/1'
/** 128 bits; OpenAI takes 64 characters at most. */
const BYTES = 16

/**
 * What stands for a conversation at prompt caches, from the key of its envelopes: requests share a prefix only if they
 * share that key.
 */
export function promptCacheKey(envelopeKey: Uint8Array): string {
  return toHex(hmacSha256(envelopeKey, LABEL).subarray(0, BYTES))
}
