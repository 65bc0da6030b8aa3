import { plainScanner } from './plain-scanner.ts'
import { simdScanner } from './simd-scanner.ts'

/** Finds and counts bytes; every implementation gives equal answers. */
export interface Scanner {
  /** How many of `bytes` equal `byte`. */
  count(bytes: Uint8Array, byte: number): number
  /** A search for `needle` (1 to 32 bytes), prepared once. */
  finder(needle: Uint8Array): Finder
}

export interface Finder {
  /**
   * Prepares `bytes` for several searches; the function gives the first position at or after `from`,
   * or -1. `bytes` must not change meanwhile.
   */
  within(bytes: Uint8Array): (from: number) => number
}

/** Long needles could make a search quadratic; callers look for a part of them instead. */
export const MAX_NEEDLE_BYTES = 32

let fastest: Scanner | undefined

/** The fastest scanner that runs here: WebAssembly SIMD where it is allowed, else plain JavaScript. */
export function scanner(): Scanner {
  fastest ??= simdScanner() ?? plainScanner
  return fastest
}
