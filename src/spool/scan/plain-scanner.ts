import type { Scanner } from './scanner-contract.ts'

/** The scanner for places where WebAssembly is not allowed. */
export const plainScanner: Scanner = {
  count(bytes, byte) {
    let total = 0
    for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) total++
    return total
  },

  finder(needle, fold = false) {
    const bit = fold ? 0x20 : 0
    const first = needle[0] ?? 0
    return {
      within: (bytes) => (from) => {
        const last = bytes.length - needle.length
        for (let at = Math.max(0, from); at <= last; at++) {
          if (!fold) at = bytes.indexOf(first, at)
          if (at < 0 || at > last) return -1
          if (startsAt(bytes, at, needle, bit)) return at
        }
        return -1
      },
    }
  },
}

function startsAt(bytes: Uint8Array, at: number, needle: Uint8Array, bit: number): boolean {
  for (let i = 0; i < needle.length; i++) {
    if (((bytes[at + i] ?? 0) | bit) !== ((needle[i] ?? 0) | bit)) return false
  }
  return true
}
