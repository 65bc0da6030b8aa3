/** Finds and counts bytes; every implementation gives equal answers. */
export interface Scanner {
  /** How many of `bytes` equal `byte`. */
  count(bytes: Uint8Array, byte: number): number
  /**
   * A search for `needle` (1 to 32 bytes), prepared once. With `fold`, bytes that differ in bit 5 alone
   * are equal: letters of either case, and a few other pairs, so that what it finds is a candidate.
   */
  finder(needle: Uint8Array, fold?: boolean): Finder
}

/** A search that is ready to run over any bytes. */
export interface Finder {
  /**
   * Prepares `bytes` for several searches; the function gives the first position at or after `from`,
   * or -1. `bytes` must not change meanwhile.
   */
  within(bytes: Uint8Array): (from: number) => number
}
