import * as v from 'valibot'
import { isInstanceOf } from '../core/brand.ts'
import { dateField, idField, scoreField, trustField } from '../core/fields.ts'
import { record } from '../core/record.ts'
import { Tokenizable } from '../text/tokenizable.ts'

const memorySchema = v.pipe(
  v.strictObject({
    id: idField,
    content: Tokenizable.schema,
    /** How sure the agent is that it is true. */
    confidence: v.optional(scoreField, 1),
    /** How much it should weigh when there is not room for everything. */
    importance: v.optional(scoreField, 0.5),
    /** The least trusted unless said otherwise: a memory is often a stranger's sentence. */
    trustTier: v.optional(trustField, 'third-party'),
    createdAt: dateField,
    updatedAt: v.optional(dateField),
  }),
  v.transform((memory) => ({ ...memory, updatedAt: memory.updatedAt ?? memory.createdAt })),
)

/** Something the agent remembers across turns. */
export class Memory extends record('Memory', 'E_INVALID_INITIAL_MEMORY_VALUE', memorySchema) {
  static isMemory(value: unknown): value is Memory {
    return isInstanceOf(value, 'Memory')
  }

  static fromJSON(json: unknown): Memory {
    return new Memory(json as RawMemory)
  }
}

/** What `new Memory` takes. */
export type RawMemory = v.InferInput<typeof memorySchema>
