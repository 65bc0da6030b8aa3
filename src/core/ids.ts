/** Makes unguessable ids; tests pass a predictable one. */
export type IdSource = () => string

/** A random UUID: 122 bits from the platform's generator. */
export const randomId: IdSource = () => globalThis.crypto.randomUUID()

/**
 * Keeps ids unique within a conversation: the first occurrence keeps its id verbatim, later ones
 * become `<id>~2`, `<id>~3` and so on, skipping whatever is taken.
 */
export class IdLedger {
  readonly #taken = new Set<string>()
  readonly #nextSuffix = new Map<string, number>()

  constructor(taken: Iterable<string> = []) {
    for (const id of taken) this.#taken.add(id)
  }

  claim(id: string): string {
    // Adding tells whether it was there: nearly every id is new.
    const before = this.#taken.size
    if (this.#taken.add(id).size > before) return id
    let unique = id
    let suffix = this.#nextSuffix.get(id) ?? 2
    while (this.#taken.has(unique)) unique = `${id}~${suffix++}`
    this.#nextSuffix.set(id, suffix)
    this.#taken.add(unique)
    return unique
  }

  has(id: string): boolean {
    return this.#taken.has(id)
  }
}
