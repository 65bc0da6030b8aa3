import { sha256Hex } from '#hash'

/**
 * Ids for servers that take letters and digits of one exact length and nothing else. What fits is kept,
 * the rest is hashed; two ids never become one, and an id stays what it became.
 */
export function exactIds(wanted: number): (id: string) => string {
  // A hash has 64 digits, and with fewer than 8 a long history would run out of ids.
  const length = Math.min(Math.max(Math.trunc(wanted), 8), 64)
  const fits = new RegExp(`^[a-zA-Z0-9]{${length}}$`)
  const known = new Map<string, string>()
  const taken = new Set<string>()
  return (id) => {
    const before = known.get(id)
    if (before !== undefined) return before
    let exact = id
    for (let round = 0; !fits.test(exact) || taken.has(exact); round++) {
      exact = sha256Hex(`${round}:${id}`).slice(0, length)
    }
    known.set(id, exact)
    taken.add(exact)
    return exact
  }
}
