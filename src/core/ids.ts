import { BobbinError } from './error.ts'
import { unwaited } from './thenable.ts'

/** Makes unguessable ids; tests pass a predictable one. */
export type IdSource = () => string

/** Ids that are none would be found out when they are stored, with what they name under way. */
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
    const rule = 'must give a text that is not empty, at once'
    throw new BobbinError('E_INVALID_RUNNER', `\`ids\` ${rule}.`, { rule }, { cause })
  }
}

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
