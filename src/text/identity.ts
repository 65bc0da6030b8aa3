import * as v from 'valibot'
import { isInstanceOf } from '../core/error/brand.ts'
import { plainZero } from '../core/fields.ts'
import { record } from '../core/record.ts'
import { Tokenizable } from './tokenizable.ts'

const IDENTIFIER_RULE = 'must be a non-empty string or a finite number'

const identitySchema = v.strictObject({
  identifier: v.union(
    [v.pipe(v.string(), v.nonEmpty()), v.pipe(v.number(), v.finite(), plainZero)],
    IDENTIFIER_RULE,
  ),
  representation: Tokenizable.schema,
})

/** Who said something: a stable identifier for systems, a name for the model. */
export class Identity
  extends record('Identity', 'E_INVALID_INITIAL_IDENTITY_VALUE', identitySchema)
  implements Readonly<v.InferOutput<typeof identitySchema>>
{
  /** A key for systems that does not change. */
  declare readonly identifier: string | number
  /** The name that the model reads. */
  declare readonly representation: Tokenizable

  static isIdentity(value: unknown): value is Identity {
    return isInstanceOf(value, 'Identity')
  }
}

/** What `new Identity` takes. */
export type RawIdentity = v.InferInput<typeof identitySchema>

/** Accepts an `Identity`, its raw form, or one string that serves as both parts. */
export const identityField = v.pipe(
  v.union(
    [v.custom<Identity>(Identity.isIdentity), v.pipe(v.string(), v.nonEmpty()), identitySchema],
    'must be an Identity, { identifier, representation }, or a non-empty string',
  ),
  v.transform((input): Identity => {
    if (Identity.isIdentity(input)) return input
    return new Identity(
      typeof input === 'string' ? { identifier: input, representation: input } : input,
    )
  }),
)
