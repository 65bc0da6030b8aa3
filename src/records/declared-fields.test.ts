import type * as v from 'valibot'
import { describe, expectTypeOf, it } from 'vitest'
import type { RecordMethods } from '../core/record.ts'
import type { Identity } from '../text/identity.ts'
import type { Memory } from './memory.ts'
import type { Message } from './message.ts'
import type { Retrievable } from './retrievable.ts'
import type { Thought } from './thought.ts'
import type { ToolCall } from './tool-call.ts'

type Declared<R> = Exclude<keyof R, keyof RecordMethods>
type InSchema<C extends { readonly schema: v.GenericSchema }> = keyof v.InferOutput<C['schema']>

// The compiler checks the other direction: each class implements the fields of its schema.
describe('the declared fields of a record', () => {
  it('are all in its schema', () => {
    expectTypeOf<Declared<ToolCall>>().toEqualTypeOf<InSchema<typeof ToolCall>>()
    expectTypeOf<Declared<Message>>().toEqualTypeOf<InSchema<typeof Message>>()
    expectTypeOf<Declared<Thought>>().toEqualTypeOf<InSchema<typeof Thought>>()
    expectTypeOf<Declared<Memory>>().toEqualTypeOf<InSchema<typeof Memory>>()
    expectTypeOf<Declared<Retrievable>>().toEqualTypeOf<InSchema<typeof Retrievable>>()
    expectTypeOf<Declared<Identity>>().toEqualTypeOf<InSchema<typeof Identity>>()
  })
})
