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
