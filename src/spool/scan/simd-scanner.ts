import { base64ToBytes } from '../../core/base64.ts'
import type { Scanner } from './scanner-contract.ts'
import { SCANNER_MODULE } from './scanner-module.ts'

interface ScannerExports {
  readonly memory: WebAssembly.Memory
  count(ptr: number, length: number, byte: number): number
  find(
    from: number,
    length: number,
    needle: number,
    size: number,
    a: number,
    b: number,
    fold: number,
  ): number
}

/** How much is scanned in one go; the module's memory has room for it, the needle and overrun. */
const WINDOW = 256 * 1024
const NEEDLE_AT = 5 * 65_536

/** The WebAssembly scanner, or undefined where WebAssembly or its SIMD part is missing or forbidden. */
export function simdScanner(): Scanner | undefined {
  const wasm = instantiate()
  if (wasm === undefined) return undefined
  const memory = new Uint8Array(wasm.memory.buffer)
  // Several searches take turns on one memory: each notes what it loaded, and loads again if that is gone.
  let loaded: object | undefined

  const count = (bytes: Uint8Array, byte: number) => {
    loaded = undefined
    let total = 0
    for (let at = 0; at < bytes.length; at += WINDOW) {
      const window = bytes.subarray(at, at + WINDOW)
      memory.set(window)
      total += wasm.count(0, window.length, byte)
    }
    return total
  }

  const finder = (needle: Uint8Array, fold = false) => {
    const bit = fold ? 0x20 : 0
    const size = needle.length
    const [a, b] = tellingPositions(needle)
    return {
      within(bytes: Uint8Array) {
        const token = {}
        let start = 0
        let window = bytes.subarray(0, 0)
        const load = (at: number) => {
          start = at
          window = bytes.subarray(at, at + WINDOW)
          memory.set(window)
          memory.set(needle, NEEDLE_AT)
          loaded = token
        }
        return (from: number) => {
          for (let at = Math.max(0, from); at + size <= bytes.length; ) {
            const inside = at >= start && at + size <= start + window.length
            if (loaded !== token || !inside) load(inside ? start : at)
            const found = wasm.find(at - start, window.length, NEEDLE_AT, size, a, b, bit)
            if (found >= 0) return start + found
            if (start + window.length >= bytes.length) return -1
            at = start + window.length - size + 1
          }
          return -1
        }
      },
    }
  }

  return { count, finder }
}

function instantiate(): ScannerExports | undefined {
  try {
    const module = new WebAssembly.Module(base64ToBytes(SCANNER_MODULE))
    const instance = new WebAssembly.Instance(module)
    return instance.exports as unknown as ScannerExports
  } catch {
    return undefined
  }
}

/** From most to least frequent in logs and prose; all other bytes are rarer. */
const FREQUENT = ' e0t1a2oin3srhl4dc5u6m7p8f9g.yw,b-v:k/="_\n'

/** Where the two rarest bytes of a needle are: comparing those first rejects most places at once. */
function tellingPositions(needle: Uint8Array): [number, number] {
  const rarity = (position: number) => {
    const rank = FREQUENT.indexOf(String.fromCharCode(needle[position] ?? 0))
    return rank < 0 ? FREQUENT.length : rank
  }
  const positions = Array.from(needle.keys()).sort((x, y) => rarity(y) - rarity(x))
  return [positions[0] ?? 0, positions[1] ?? positions[0] ?? 0]
}
