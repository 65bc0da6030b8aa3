import * as v from 'valibot'
import { brandOf, isInstanceOf } from '../core/error/brand.ts'
import { parseOrThrow } from '../core/record.ts'
import { countTokens, type TokenCount } from './token-count.ts'

const RULE = 'must be a string or a Tokenizable'

/** Text that knows how many tokens it is; every text field of every record holds one. */
export class Tokenizable {
  /** Accepts a string or an existing `Tokenizable` and gives a `Tokenizable`. */
  static readonly schema: v.GenericSchema<string | Tokenizable, Tokenizable> = v.pipe(
    v.custom<string | Tokenizable>(
      (input) => typeof input === 'string' || Tokenizable.isTokenizable(input),
      RULE,
    ),
    v.transform((input) => (typeof input === 'string' ? new Tokenizable(input) : input)),
  )

  readonly text: string
  readonly #counts = new Map<string, Promise<TokenCount>>()

  constructor(raw: string | Tokenizable) {
    if (typeof raw === 'string') this.text = raw
    else this.text = parseOrThrow('Tokenizable', CODE, Tokenizable.schema, raw).text
    Object.freeze(this)
  }

  static isTokenizable(value: unknown): value is Tokenizable {
    return isInstanceOf(value, 'Tokenizable')
  }

  /** Counts this text's tokens once per encoding; see `countTokens` for what is exact. */
  estimateTokens(encoding = 'o200k_base'): Promise<TokenCount> {
    let count = this.#counts.get(encoding)
    if (count === undefined) {
      count = countTokens(this.text, encoding)
      this.#counts.set(encoding, count)
      count.catch(() => this.#counts.delete(encoding))
    }
    return count
  }

  get length(): number {
    return this.text.length
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }

  [brandOf('Tokenizable')](): boolean {
    return #counts in this
  }
}

const CODE = 'E_INVALID_INITIAL_TOKENIZABLE_VALUE'
