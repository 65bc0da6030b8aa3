import type { DateTime } from 'luxon'
import * as v from 'valibot'
import { isInstanceOf } from '../core/error/brand.ts'
import { dateField, idField } from '../core/fields.ts'
import { record } from '../core/record.ts'
import { type ProviderData, providerDataField } from '../core/wire-reference.ts'
import { type Identity, identityField } from '../text/identity.ts'
import { Tokenizable } from '../text/tokenizable.ts'

const thoughtSchema = v.pipe(
  v.strictObject({
    id: idField,
    content: Tokenizable.schema,
    identity: v.optional(identityField, 'assistant'),
    providerData: v.optional(providerDataField),
    response: v.optional(idField),
    createdAt: dateField,
    updatedAt: v.optional(dateField),
  }),
  v.transform((thought) => ({ ...thought, updatedAt: thought.updatedAt ?? thought.createdAt })),
)

/** A model's reasoning, as far as it can be read, with the provider's own form of it. */
export class Thought
  extends record('Thought', 'E_INVALID_INITIAL_THOUGHT_VALUE', thoughtSchema)
  implements Readonly<v.InferOutput<typeof thoughtSchema>>
{
  declare readonly id: string
  /** The readable part of the reasoning; empty when all of it is opaque. */
  declare readonly content: Tokenizable
  declare readonly identity: Identity
  /** Signatures and encrypted reasoning, sent back only to the provider that made it. */
  declare readonly providerData?: ProviderData | undefined
  /** The model response that it came from; items of one response are sent together. */
  declare readonly response?: string | undefined
  declare readonly createdAt: DateTime<true>
  declare readonly updatedAt: DateTime<true>

  static isThought(value: unknown): value is Thought {
    return isInstanceOf(value, 'Thought')
  }

  static fromJSON(json: unknown): Thought {
    return new Thought(json as RawThought)
  }
}

/** What `new Thought` takes. */
export type RawThought = v.InferInput<typeof thoughtSchema>
