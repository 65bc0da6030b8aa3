import type { Scanner } from './scanner-contract.ts'

/** After a match, this many bytes are compared one by one: a call of `indexOf` takes as long. */
const STRIDE = 64

/** The scanner for places where WebAssembly is not allowed; its speed hardly depends on the bytes. */
export const plainScanner: Scanner = {
  count(bytes, byte) {
    let total = 0
    for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at)) {
      const end = Math.min(at + STRIDE, bytes.length)
      for (; at < end; at++) if (bytes[at] === byte) total++
    }
    return total
  },

  finder(needle, fold = false) {
    const masks = masksOf(needle, fold)
    const found = 1 << (needle.length - 1)
    const first = needle[0] ?? 0
    return {
      within: (bytes) => (from) => {
        let at = Math.max(0, from)
        for (;;) {
          if (!fold && bytes[at] !== first) at = bytes.indexOf(first, at)
          if (at < 0 || at >= bytes.length) return -1
          const end = Math.min(at + STRIDE, bytes.length)
          // Bit `i` is set when the last bytes are the first `i + 1` bytes of the needle (Shift-And).
          let state = 0
          for (; at < end || (state !== 0 && at < bytes.length); at++) {
            state = ((state << 1) | 1) & (masks[bytes[at] as number] as number)
            if ((state & found) !== 0) return at - needle.length + 1
          }
        }
      },
    }
  },
}

/** For each byte, the positions of the needle where it may stand, as bits. */
function masksOf(needle: Uint8Array, fold: boolean): Int32Array {
  const bit = fold ? 0x20 : 0
  return Int32Array.from({ length: 256 }, (_, byte) =>
    needle.reduce((mask, own, i) => ((byte | bit) === (own | bit) ? mask | (1 << i) : mask), 0),
  )
}
