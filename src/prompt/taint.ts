import { lowerTrust, type TrustTier } from '../core/trust.ts'

/** The lowest trust that a conversation has seen. It is sticky: nothing raises it again. */
export class Taint {
  #lowest: TrustTier

  constructor(lowest: TrustTier = 'developer') {
    this.#lowest = lowest
  }

  /** Takes note of content of this tier; gives true when that lowered the trust. */
  see(tier: TrustTier): boolean {
    const before = this.#lowest
    this.#lowest = lowerTrust(before, tier)
    return this.#lowest !== before
  }

  get lowest(): TrustTier {
    return this.#lowest
  }

  /** True once a stranger's content was seen. */
  get isTainted(): boolean {
    return this.#lowest === 'third-party'
  }
}
