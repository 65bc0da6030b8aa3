import { BobbinError } from '../core/error.ts'

/** How many bytes become one argument list; more would overflow the stack. */
const SLICE = 32 * 1024

/** Standard base64, with what every platform has. */
export function bytesToBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += SLICE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + SLICE))
  }
  return btoa(binary)
}

/** The bytes of standard base64; `E_INVALID_STORE_INPUT` for anything else. */
export function base64ToBytes(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) {
    const data = { path: 'chunk', rule: 'must be base64' }
    throw new BobbinError('E_INVALID_STORE_INPUT', '`chunk` must be base64.', data)
  }
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}
