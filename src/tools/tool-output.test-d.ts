import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../core/json/json.ts'
import type { NotJson } from '../core/json/json-compatible.ts'
import type { InputSchema } from './input-schema.ts'
import { Tool } from './tool.ts'
import type { ReturnedBy, ToolContext, ToolOutput } from './tool-context.ts'
import type { ToolOptions } from './tool-options.ts'

const inputSchema = z.object({ n: z.number() })
const common = { name: 'a', description: 'a', inputSchema }

interface Place {
  readonly city: string
  street?: string
}
interface Row {
  readonly id: number
  kind: 'new' | 'old'
  at: Place
  next: Row | null
  places: readonly Place[]
  pair: [number, Place]
  byName: Record<string, Place>
  data: JsonValue
  note?: string | undefined
}
declare const row: Row

// Interfaces are JSON as other types are, wherever they stand.
new Tool({ ...common, handler: () => row })
new Tool({ ...common, handler: async () => [row] })
new Tool({ ...common, handler: async () => ({ rows: [row] as const, count: 1, more: undefined }) })
new Tool({ ...common, handler: ({ n }) => (n > 1 ? row : n > 0 ? [row] : null) })
new Tool({ ...common, handler: (): Row | Promise<Row> | string => row })
new Tool({ ...common, handler: (): PromiseLike<Row> => Promise.resolve(row) })

// Names that other objects have methods by are names like any other.
interface Mail {
  name: string
  message: string
  then: boolean
  apply: number
}
declare const mail: Mail
new Tool({ ...common, handler: () => [mail] })

// Nothing at all is a result too, and so is whatever nobody has typed.
declare function say(text: string): void
new Tool({ ...common, handler: ({ n }) => say(`${n}`) })
new Tool({ ...common, handler: async () => JSON.parse('{}') })

// What a handler returns is no part of the tool's type.
const listing = new Tool({ ...common, handler: () => ({ rows: [row] }) })
expectTypeOf(listing).toEqualTypeOf<Tool<typeof inputSchema>>()
expectTypeOf(listing).toExtend<Tool>()

// The arguments come from the schema, whatever is returned.
new Tool({
  ...common,
  handler: (args, context) => {
    expectTypeOf(args).toEqualTypeOf<{ n: number }>()
    expectTypeOf(context).toEqualTypeOf<ToolContext>()
    return { row, n: args.n }
  },
})

// Somebody else's function that makes tools hands its options on.
const named = <S extends InputSchema, R>(options: Omit<ToolOptions<S, R>, 'description'>) =>
  new Tool<S, R>({ ...options, description: options.name } as ToolOptions<S, R>)
expectTypeOf(named({ name: 'b', inputSchema, handler: ({ n }) => ({ row, n }) })).toExtend<Tool>()

// Where only the schema is named, and where nothing is, the handler returns any output.
expectTypeOf<ToolOptions['handler']>().returns.toEqualTypeOf<ToolOutput | Promise<ToolOutput>>()
class Own extends Tool<typeof inputSchema> {
  constructor() {
    super({ ...common, handler: async ({ n }) => ({ n, more: undefined }) })
  }
}
expectTypeOf(new Own()).toExtend<Tool>()
const constant = <T extends JsonObject>(value: T) => ({
  value,
  tool: new Tool<typeof inputSchema>({ ...common, handler: () => value }),
})
expectTypeOf(constant({ a: 1 }).tool).toExtend<Tool>()

// What JSON cannot hold is refused where it stands.
class Account {
  readonly id = 1
  close(): void {}
}
new Tool({
  ...common,
  // @ts-expect-error a class has methods
  handler: () => new Account(),
})
new Tool({
  ...common,
  handler: () => ({
    ...row,
    // @ts-expect-error a class has methods
    account: new Account(),
    // @ts-expect-error a map has no form in JSON
    map: new Map([['a', row]]),
    // @ts-expect-error nor has a set
    set: new Set([1]),
    // @ts-expect-error nor has a date
    date: new Date(),
    // @ts-expect-error nor has a large integer
    big: 1n,
    // @ts-expect-error nor has a symbol
    symbol: Symbol('s'),
    // @ts-expect-error nor has a function
    run: () => 1,
    // @ts-expect-error nor has a promise
    later: Promise.resolve(row),
    // @ts-expect-error nor have bytes
    bytes: new Uint8Array(1),
    // @ts-expect-error nobody knows what is in it
    anything: row as unknown,
    // @ts-expect-error nor in that
    some: row as object,
    // @ts-expect-error an element that is missing has no form in JSON
    list: [row, undefined],
  }),
})
new Tool({
  ...common,
  // @ts-expect-error it is found in what is waited for
  handler: async () => [{ ...row, deep: { at: new Date() } }],
})
new Tool({
  ...common,
  // @ts-expect-error nobody knows what it is
  handler: (): unknown => row,
})
new Tool({
  ...common,
  // @ts-expect-error a key that is a symbol has no form in JSON
  handler: () => ({ ...row, [Symbol.iterator]: 1 }),
})

// The compiler's error says what is wrong, and where.
type Why = NotJson<'has no form in JSON'>
expectTypeOf<ReturnedBy<{ a: { at: Date }[]; b?: bigint; c: 1 }>>().toEqualTypeOf<{
  readonly a: readonly { readonly at: Why }[]
  readonly b?: Why
  readonly c: 1
}>()

// What `reconcile` finds is an output as well.
new Tool({
  ...common,
  handler: () => 'text',
  reconcile: async (key) => (key === '' ? { happened: 'no' } : { happened: 'yes', output: [row] }),
})
new Tool({
  ...common,
  handler: () => row,
  // @ts-expect-error a date has no form in JSON
  reconcile: async () => ({ happened: 'yes', output: { at: new Date() } }),
})

// So is what is reported on the way.
new Tool({
  ...common,
  handler: (_, { progress }) => {
    progress(row)
    progress({ rows: [row], done: 0.5, note: undefined })
    progress('half')
    // @ts-expect-error a date has no form in JSON
    progress({ at: new Date() })
    // @ts-expect-error nor has a function
    progress(() => row)
  },
})
