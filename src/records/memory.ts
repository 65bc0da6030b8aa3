import type { DateTime } from 'luxon'
import * as v from 'valibot'
import { isInstanceOf } from '../core/error/brand.ts'
import { dateField, idField, scoreField, trustField } from '../core/fields.ts'
import { record } from '../core/record.ts'
import type { TrustTier } from '../core/trust.ts'
import { Tokenizable } from '../text/tokenizable.ts'

const memorySchema = v.pipe(
  v.strictObject({
    id: idField,
    content: Tokenizable.schema,
    confidence: v.optional(scoreField, 1),
    importance: v.optional(scoreField, 0.5),
    trustTier: v.optional(trustField, 'third-party'),
    createdAt: dateField,
    updatedAt: v.optional(dateField),
  }),
  v.transform((memory) => ({ ...memory, updatedAt: memory.updatedAt ?? memory.createdAt })),
)

/** Something the agent remembers across turns. */
export class Memory
  extends record('Memory', 'E_INVALID_INITIAL_MEMORY_VALUE', memorySchema)
  implements Readonly<v.InferOutput<typeof memorySchema>>
{
  declare readonly id: string
  declare readonly content: Tokenizable
  /** How sure the agent is that it is true, from 0 to 1; 1 by default. */
  declare readonly confidence: number
  /** How much it matters when there is not room for everything, from 0 to 1; 0.5 by default. */
  declare readonly importance: number
  /** The lowest tier by default: a memory often holds text of a third party. */
  declare readonly trustTier: TrustTier
  declare readonly createdAt: DateTime<true>
  declare readonly updatedAt: DateTime<true>

  static isMemory(value: unknown): value is Memory {
    return isInstanceOf(value, 'Memory')
  }

  static fromJSON(json: unknown): Memory {
    return new Memory(json as RawMemory)
  }
}

/** What `new Memory` takes. */
export type RawMemory = v.InferInput<typeof memorySchema>
