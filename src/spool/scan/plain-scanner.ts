import type { Scanner } from './scanner-contract.ts'

/** The scanner for places where WebAssembly is not allowed. */
export const plainScanner: Scanner = {
  count(bytes, byte) {
    let total = 0
    for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) total++
    return total
  },

  finder(needle) {
    const first = needle[0] ?? 0
    return {
      within: (bytes) => (from) => {
        let at = bytes.indexOf(first, from)
        while (at >= 0 && at + needle.length <= bytes.length) {
          if (startsAt(bytes, at, needle)) return at
          at = bytes.indexOf(first, at + 1)
        }
        return -1
      },
    }
  },
}

function startsAt(bytes: Uint8Array, at: number, needle: Uint8Array): boolean {
  for (let i = 1; i < needle.length; i++) if (bytes[at + i] !== needle[i]) return false
  return true
}
