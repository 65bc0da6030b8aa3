import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Hashing } from './hash.ts'

const toBytes = (data: string | Uint8Array) => (typeof data === 'string' ? utf8ToBytes(data) : data)

export const sha256Hex: Hashing['sha256Hex'] = (data) => bytesToHex(sha256(toBytes(data)))

export const sha256Stream: Hashing['sha256Stream'] = () => {
  const state = sha256.create()
  return {
    update: (chunk) => void state.update(chunk),
    digestHex: () => bytesToHex(state.digest()),
  }
}

export const hmacSha256: Hashing['hmacSha256'] = (key, data) => hmac(sha256, key, toBytes(data))

export const hmac128: Hashing['hmac128'] = (key, data) => {
  const text = btoa(String.fromCharCode(...hmacSha256(key, data).subarray(0, 16)))
  return text.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')
}
