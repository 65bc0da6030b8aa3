import { createHash, createHmac, hash } from 'node:crypto'
import type { Hashing } from './hash.ts'

// One-shot `hash` is several times faster than `createHash` on the small inputs that checksums are.
export const sha256Hex: Hashing['sha256Hex'] = (data) => hash('sha256', data, 'hex')

export const sha256Stream: Hashing['sha256Stream'] = () => {
  const state = createHash('sha256')
  return {
    update: (chunk) => void state.update(chunk),
    digestHex: () => state.digest('hex'),
  }
}

export const hmacSha256: Hashing['hmacSha256'] = (key, data) =>
  new Uint8Array(createHmac('sha256', key).update(data).digest())
