import type { DateTime } from 'luxon'
import * as v from 'valibot'
import { isInstanceOf } from '../core/error/brand.ts'
import { dateField, idField, scoreField, trustField } from '../core/fields.ts'
import { record } from '../core/record.ts'
import type { TrustTier } from '../core/trust.ts'
import { Tokenizable } from '../text/tokenizable.ts'

const retrievableSchema = v.pipe(
  v.strictObject({
    id: idField,
    content: Tokenizable.schema,
    source: v.optional(v.string('must be a string')),
    score: v.optional(scoreField),
    trustTier: v.optional(trustField, 'third-party'),
    createdAt: dateField,
    updatedAt: v.optional(dateField),
  }),
  v.transform((found) => ({ ...found, updatedAt: found.updatedAt ?? found.createdAt })),
)

/** Something that was looked up for this turn. */
export class Retrievable
  extends record('Retrievable', 'E_INVALID_INITIAL_RETRIEVABLE_VALUE', retrievableSchema)
  implements Readonly<v.InferOutput<typeof retrievableSchema>>
{
  declare readonly id: string
  declare readonly content: Tokenizable
  /** Where it was found: an address, a file, an index. */
  declare readonly source?: string | undefined
  /** How well it fits the question, from 0 to 1. */
  declare readonly score?: number | undefined
  /** The lowest tier by default. */
  declare readonly trustTier: TrustTier
  declare readonly createdAt: DateTime<true>
  declare readonly updatedAt: DateTime<true>

  static isRetrievable(value: unknown): value is Retrievable {
    return isInstanceOf(value, 'Retrievable')
  }

  static fromJSON(json: unknown): Retrievable {
    return new Retrievable(json as RawRetrievable)
  }
}

/** What `new Retrievable` takes. */
export type RawRetrievable = v.InferInput<typeof retrievableSchema>
