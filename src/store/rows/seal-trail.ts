import { type ForkOrigin, forkSealOf, originOf } from './fork-origin.ts'
import { sealOf } from './seal.ts'
import type { ConversationRow, EntryRow } from './store-rows.ts'

/** The entries that a wrong seal covers. */
export interface WrongSeal {
  readonly from: number
  readonly to: number
}

/** Follows the seals of a log from its first entry on. What a fork took over has the seals of its origin. */
export class SealTrail {
  /** Every seal, in order: those of turns, and the one with which a fork begins. */
  readonly seals: string[] = []
  /** The last entry that a seal covers. */
  sealedSeq = 0
  /** The digests, and in what was copied also the seals, since the last seal of this conversation. */
  #unsealed: string[] = []
  readonly #row: ConversationRow
  readonly #key: Uint8Array | undefined
  readonly #origin: ForkOrigin | undefined

  constructor(row: ConversationRow, key: Uint8Array | undefined) {
    this.#row = row
    this.#key = key
    this.#origin = originOf(row)
  }

  /** The last seal; empty before the first. */
  get last(): string {
    return this.seals.at(-1) ?? ''
  }

  /** The seal of a fork that took over nothing covers no entry. */
  begin(): WrongSeal | undefined {
    return this.#origin?.length === 0 ? this.#endCopy(this.#origin) : undefined
  }

  /** Takes the next entry with its recomputed digest. Gives the entries whose seal does not fit them. */
  see(entry: Pick<EntryRow, 'seq' | 'kind' | 'seal'>, digest: string): WrongSeal | undefined {
    this.#unsealed.push(digest)
    const { seq, kind, seal } = entry
    const origin = this.#origin
    const isCopy = origin !== undefined && seq <= origin.length
    if (isCopy && kind === 'turn-end') {
      this.seals.push(seal ?? '')
      this.#unsealed.push(seal ?? '')
    }
    if (isCopy) return seq === origin.length ? this.#endCopy(origin) : undefined
    return kind === 'turn-end' ? this.#endTurn(seq, seal ?? '') : undefined
  }

  #endTurn(seq: number, seal: string): WrongSeal | undefined {
    const { id: conversation } = this.#row
    const parts = { conversation, previous: this.last, digests: this.#unsealed }
    const key = this.#key
    const isWrong = key !== undefined && seal !== sealOf({ key, ...parts })
    return this.#sealed(seq, seal, isWrong)
  }

  #endCopy(from: ForkOrigin): WrongSeal | undefined {
    const parts = { row: this.#row, from, previous: this.last, digests: this.#unsealed }
    const key = this.#key
    const isWrong = key !== undefined && from.seal !== forkSealOf({ key, ...parts })
    return this.#sealed(from.length, from.seal, isWrong)
  }

  #sealed(to: number, seal: string, isWrong: boolean): WrongSeal | undefined {
    const from = this.sealedSeq + 1
    this.seals.push(seal)
    this.sealedSeq = to
    this.#unsealed = []
    return isWrong ? { from: Math.min(from, to), to } : undefined
  }
}
