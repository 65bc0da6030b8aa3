import * as v from 'valibot'
import { isInstanceOf } from '../core/brand.ts'
import { dateField, idField, scoreField, trustField } from '../core/fields.ts'
import { record } from '../core/record.ts'
import { Tokenizable } from '../text/tokenizable.ts'

const retrievableSchema = v.pipe(
  v.strictObject({
    id: idField,
    content: Tokenizable.schema,
    /** Where it was found: an address, a file, an index. */
    source: v.optional(v.string('must be a string')),
    /** How well it fits what was asked. */
    score: v.optional(scoreField),
    /** The least trusted unless said otherwise. */
    trustTier: v.optional(trustField, 'third-party'),
    createdAt: dateField,
    updatedAt: v.optional(dateField),
  }),
  v.transform((found) => ({ ...found, updatedAt: found.updatedAt ?? found.createdAt })),
)

/** Something that was looked up for this turn. */
export class Retrievable extends record(
  'Retrievable',
  'E_INVALID_INITIAL_RETRIEVABLE_VALUE',
  retrievableSchema,
) {
  static isRetrievable(value: unknown): value is Retrievable {
    return isInstanceOf(value, 'Retrievable')
  }

  static fromJSON(json: unknown): Retrievable {
    return new Retrievable(json as RawRetrievable)
  }
}

/** What `new Retrievable` takes. */
export type RawRetrievable = v.InferInput<typeof retrievableSchema>
