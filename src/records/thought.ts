import * as v from 'valibot'
import { isInstanceOf } from '../core/brand.ts'
import { dateField, idField } from '../core/fields.ts'
import { record } from '../core/record.ts'
import { providerDataField } from '../core/wire-reference.ts'
import { identityField } from '../text/identity.ts'
import { Tokenizable } from '../text/tokenizable.ts'

const thoughtSchema = v.pipe(
  v.strictObject({
    id: idField,
    /** What can be read of the reasoning; empty when all of it is opaque. */
    content: Tokenizable.schema,
    identity: v.optional(identityField, 'assistant'),
    /** Signatures and encrypted reasoning: goes back to the provider that made it, and nowhere else. */
    providerData: v.optional(providerDataField),
    /** Which model response it came from; items that share it are never sent apart. */
    response: v.optional(idField),
    createdAt: dateField,
    updatedAt: v.optional(dateField),
  }),
  v.transform((thought) => ({ ...thought, updatedAt: thought.updatedAt ?? thought.createdAt })),
)

/** A model's reasoning, as far as it can be read, with the provider's own form of it. */
export class Thought extends record('Thought', 'E_INVALID_INITIAL_THOUGHT_VALUE', thoughtSchema) {
  static isThought(value: unknown): value is Thought {
    return isInstanceOf(value, 'Thought')
  }

  static fromJSON(json: unknown): Thought {
    return new Thought(json as RawThought)
  }
}

/** What `new Thought` takes. */
export type RawThought = v.InferInput<typeof thoughtSchema>
