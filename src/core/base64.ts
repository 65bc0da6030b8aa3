/** How many bytes become one argument list; more would overflow the stack. Divides by three. */
const STEP = 0x6000

/** Standard base64, with what every platform has. */
export function bytesToBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += STEP) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + STEP)))
  }
  return text
}

/** The bytes of base64; throws what `atob` throws at anything else. */
export function base64ToBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

/** True for base64 in its URL-safe alphabet, which not every reader takes. */
export function isUrlSafeBase64(text: string): boolean {
  return /[-_]/.test(text)
}

/** Base64 in the standard alphabet with its padding, from either alphabet. */
export function standardBase64(text: string): string {
  const standard = isUrlSafeBase64(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text
  return standard.length % 4 < 2
    ? standard
    : standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')
}
