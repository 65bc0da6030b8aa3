import type { JsonObject, PlainObject } from '../src/core/json/json.ts'
import type { GrantRequest } from '../src/store/grant.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import { Tool } from '../src/tools/tool.ts'
import type { ToolOptions } from '../src/tools/tool-options.ts'
import type { RunnerOptions } from '../src/turn/options/option-table.ts'
import type { TurnRunnerOptions } from '../src/turn/options/runner-options.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'

/** What the tool of the bank takes. */
export const PAYMENT = {
  type: 'object',
  properties: { to: { type: 'string' }, sum: { type: 'number' } },
} as const

/** A runner whose executor makes the calls that `ask` names, in one response. */
export function bank(options: RunnerOptions = {}, tool: Partial<ToolOptions> = {}) {
  const ran: unknown[] = []
  const pay = new Tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: PAYMENT,
    approval: true,
    trust: 'first-party',
    handler: (args) => {
      ran.push(args)
      return 'Paid.'
    },
    ...tool,
  })
  let asked: readonly JsonObject[] = []
  const store = options.store ?? memoryStore()
  const runner = new TurnRunner({
    store,
    tools: [pay],
    executor: async () => {
      const calls = asked.map((args) => ({ tool: 'pay', args }))
      asked = []
      return calls.length > 0 ? { calls } : { answer: 'Done.' }
    },
    ...options,
  } as TurnRunnerOptions)
  const ask = (conversation: string, calls: readonly PlainObject[], context?: unknown) => {
    asked = calls as readonly JsonObject[]
    return runner.run({ conversation, message: 'Pay.', context })
  }
  /** Approves one call with a grant. */
  const grant = async (
    given: GrantRequest,
    args: PlainObject = { to: 'ann', sum: 1 },
    { conversation = 'c', context }: { conversation?: string; context?: unknown } = {},
  ) => {
    const { gates } = await ask(conversation, [args], context)
    const decision = { gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ada', grant: given }
    return runner.resume({ conversation, decisions: [decision] })
  }
  return { runner, store: store as ReturnType<typeof memoryStore>, ran, ask, grant }
}
