import { subAgent, Tool, type ToolOptions, type TurnRunnerOptions } from '../../src/index.ts'

/** Plain JSON Schema: a gate is bound to the definition of its tool, and no library may change that. */
const AMOUNT = {
  type: 'object',
  properties: { to: { type: 'string' }, amount: { type: 'integer' } },
  required: ['to', 'amount'],
  additionalProperties: false,
} as const

type More = Partial<ToolOptions<typeof AMOUNT>>

/** A write that waits for a person. Stored gates are about it: never change its definition. */
export const pay = (more: More = {}) =>
  new Tool({
    name: 'pay',
    description: 'Pays an amount.',
    inputSchema: AMOUNT,
    effect: 'write',
    trust: 'first-party',
    approval: true,
    handler: ({ to, amount }) => `paid ${amount} to ${to}`,
    ...more,
  })

/** A write that asks nobody of its own. */
export const transfer = (more: More = {}) =>
  new Tool({
    name: 'transfer',
    description: 'Moves an amount.',
    inputSchema: AMOUNT,
    effect: 'write',
    trust: 'first-party',
    handler: ({ to, amount }) => `moved ${amount} to ${to}`,
    ...more,
  })

/** May be run again under the same key. */
export const book = (more: More = {}) =>
  new Tool({
    name: 'book',
    description: 'Books an amount, once for each key.',
    inputSchema: AMOUNT,
    effect: 'idempotent',
    trust: 'first-party',
    handler: ({ to, amount }) => `booked ${amount} for ${to}`,
    ...more,
  })

/** A turn inside a call; what it does is up to `agent`. */
export const clerk = (agent: TurnRunnerOptions) =>
  subAgent({ name: 'clerk', description: 'Does what it is told.', agent, trust: 'first-party' })
