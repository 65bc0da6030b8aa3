import { sha256Hex } from '#hash'
import type { WireReference } from '../../core/wire-reference.ts'

/** What a wire takes as the id of a call that it did not issue itself. */
export interface IdRules {
  /** Matches one character that the wire refuses; global. */
  readonly refused: RegExp
  readonly maxLength: number
  /** Whether the wire takes such an id of its own back; any when absent. */
  readonly takesBack?: (id: string) => boolean
}

interface Identified {
  readonly id: string
  readonly wire: WireReference
}

/**
 * Fits ids to one wire, injectively per request. A wire gets its own ids back verbatim unless it would
 * refuse them or that would make a duplicate; others keep theirs where it fits and are shortened with a hash where not.
 * What an earlier item got never changes when items are added, so prompt caches hold.
 */
export class IdProjection {
  readonly #api: string
  readonly #rules: IdRules
  readonly #taken = new Set<string>()
  readonly #byItem = new WeakMap<object, string>()

  constructor(api: string, rules: IdRules) {
    this.#api = api
    this.#rules = rules
  }

  /** The pairing id that stands for this item in the request; the same on every call. */
  of(item: Identified): string {
    const known = this.#byItem.get(item)
    if (known !== undefined) return known
    const { id, wire } = item
    const own = issuedBy(this.#api, wire) ? wire.callId : undefined
    const isFree = own !== undefined && !this.#taken.has(own) && this.#takesBack(own)
    const projected = isFree ? own : this.#fit(id)
    this.#taken.add(projected)
    this.#byItem.set(item, projected)
    return projected
  }

  #takesBack(id: string): boolean {
    return this.#rules.takesBack?.(id) ?? true
  }

  #fit(id: string): string {
    const { refused, maxLength } = this.#rules
    const clean = id.replace(refused, '_')
    if (clean === id && id.length <= maxLength && !this.#taken.has(id)) return id
    for (let round = 0; ; round++) {
      // The hash of the whole id is what keeps two long ids apart; cutting alone would merge them.
      const tail = sha256Hex(round === 0 ? id : `${round}:${id}`).slice(0, 16)
      const fitted = `${clean.slice(0, maxLength - tail.length - 1)}_${tail}`
      if (!this.#taken.has(fitted)) return fitted
    }
  }
}

/** True when this wire issued the pairing id that the reference carries, and takes it back: no server reads half a pair. */
export function issuedBy(api: string, wire: WireReference): boolean {
  return wire.api === api && wire.origin !== 'synthetic' && wire.callId?.isWellFormed() === true
}
