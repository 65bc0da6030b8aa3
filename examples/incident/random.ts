/** Numbers from 0 to below 1 that are the same on every machine and in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** One of several, each as likely as the others. */
export function pick<T>(random: () => number, from: readonly [T, ...T[]] | readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}
