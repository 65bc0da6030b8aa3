import { BobbinError } from './error/error.ts'
import { unwaited } from './thenable.ts'

/** Makes unguessable ids; tests pass a predictable one. */
export type IdSource = () => string

/** Checks each id when it is made: an invalid id would otherwise fail later, when it is stored. */
export function checkedIds(source: IdSource): IdSource {
  if (source === randomId) return source
  return () => {
    let cause: unknown
    try {
      const id: unknown = unwaited(source())
      if (typeof id === 'string' && id !== '') return id
    } catch (error) {
      cause = error
    }
    const rule = 'must return a non-empty string, not a promise'
    throw new BobbinError('E_INVALID_RUNNER', `\`testing.ids\` ${rule}.`, { rule }, { cause })
  }
}

/** A random UUID: 122 bits from the platform's generator. */
export const randomId: IdSource = () => globalThis.crypto.randomUUID()

/**
 * Keeps ids unique within a conversation: the first occurrence keeps its id verbatim, later ones
 * become `<id>~2`, `<id>~3` and so on, skipping whatever is taken. Half a surrogate pair becomes U+FFFD: JSON arguments, in which
 * a model names a call, cannot hold it.
 */
export class IdLedger {
  readonly #taken = new Set<string>()
  readonly #nextSuffix = new Map<string, number>()

  constructor(taken: Iterable<string> = []) {
    for (const id of taken) this.#taken.add(id)
  }

  claim(given: string): string {
    const id = given.toWellFormed()
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

  /** Takes an id that was claimed before, in another process. */
  take(id: string): void {
    this.#taken.add(id)
  }

  has(id: string): boolean {
    return this.#taken.has(id)
  }
}
