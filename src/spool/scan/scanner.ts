import { plainScanner } from './plain-scanner.ts'
import type { Scanner } from './scanner-contract.ts'
import { simdScanner } from './simd-scanner.ts'

/** Long needles could make a search quadratic; callers look for a part of them instead. */
export const MAX_NEEDLE_BYTES = 32

let fastest: Scanner | undefined

/** The fastest scanner that runs here: WebAssembly SIMD where it is allowed, else plain JavaScript. */
export function scanner(): Scanner {
  fastest ??= simdScanner() ?? plainScanner
  return fastest
}
