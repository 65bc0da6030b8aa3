import { z } from 'zod'
import { Tool } from '../../src/tools/tool.ts'
import type { ToolContext, ToolOutput } from '../../src/tools/tool-context.ts'
import type { ToolOptions } from '../../src/tools/tool-options.ts'
import type { Executor } from '../../src/turn/executor/executor.ts'
import { subAgent } from '../../src/turn/nested/sub-agent.ts'
import { compactOf } from './compact.ts'
import { type Life, never } from './life.ts'
import { MANNERS, type Manner } from './program.ts'
import { recorded } from './recording.ts'
import { checkHistory, decisionOf, taskOf } from './script.ts'
import type { World } from './world.ts'

const schema = z.object({ n: z.number().int(), how: z.enum(MANNERS).default('ok') })
type Args = z.infer<typeof schema>

const BIG = 'a line of a long result\n'.repeat(3_000)

/** The tools of a process; what a handler does hangs on its arguments alone. */
export function toolsOf(world: World, life: Life, depth = 0): Tool[] {
  const { ledger } = world
  const make = (name: string, options: Partial<ToolOptions<typeof schema>>) => {
    const { effect } = options
    const facts = { name, effect, isTraced: options.reconcile !== undefined }
    return new Tool({
      name,
      description: `The tool ${name}, edition ${world.edition}.`,
      inputSchema: schema,
      trust: 'first-party',
      timeoutMs: 10_000,
      ...options,
      handler: (args, ctx) => {
        if (life.isDead) return never<string>()
        ledger.onStart(life, facts, ctx.idempotencyKey)
        life.step()
        return act(world, life, args, ctx)
      },
    })
  }
  const deaf = (name: string, effect: 'read' | 'write') =>
    new Tool({
      name,
      description: 'Does not listen.',
      inputSchema: schema,
      trust: 'first-party',
      effect,
      timeoutMs: 5,
      handler: ({ how }, ctx) => {
        if (life.isDead) return never<string>()
        ledger.onStart(life, { name, effect, isTraced: false }, ctx.idempotencyKey)
        return how === 'ok' ? obedient(ctx.signal) : never<string>()
      },
    })
  const reconcile = async (key: string) =>
    ledger.happened(key)
      ? ({ happened: 'yes', output: 'found' } as const)
      : ({ happened: 'no' } as const)
  return [
    make('look', { effect: 'read' }),
    make('wide', { effect: 'read', inline: false, trust: 'third-party' }),
    make('put', { effect: 'idempotent' }),
    make('pay', { effect: 'write' }),
    make('odd', {}),
    make('ask', { effect: 'write', approval: true }),
    make('alone', { effect: 'write', exclusive: true }),
    make('poll', { effect: 'read', repeat: false, approval: ({ n }) => n === 2 }),
    make('traced', { effect: 'write', reconcile }),
    deaf('slow', 'read'),
    deaf('slow_pay', 'write'),
    ...(depth < 2 ? [agentOf(world, life, depth)] : []),
  ]
}

const obedient = (signal: AbortSignal) =>
  new Promise<string>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })

function act(
  { clock, ledger }: World,
  life: Life,
  { n, how }: Args,
  ctx: ToolContext,
): ToolOutput | Promise<ToolOutput> {
  const took = <T>(value: T): T => {
    ledger.onEffect(ctx.idempotencyKey)
    return value
  }
  const doings: Record<Manner, () => ToolOutput | Promise<ToolOutput>> = {
    ok: () => took(`did ${n}`),
    async late() {
      await life.pause(3)
      took(0)
      await life.pause(3)
      return `did ${n} in its time`
    },
    throw() {
      throw new Error('it does not work')
    },
    async reject() {
      await life.pause(1)
      throw took(new Error('it broke behind the effect'))
    },
    json: () => took({ n, list: [1, 2, 3] }),
    async big() {
      await life.pause(1)
      return took(BIG)
    },
    bad: () => took(new Date() as never),
    clock() {
      clock.advance(20_000)
      return took('later')
    },
    async halt() {
      took(0)
      await life.pause(2)
      life.abort.abort()
      life.struck ??= 'abort'
      return 'halted'
    },
  }
  return doings[how]()
}

function agentOf(world: World, life: Life, depth: number): Tool {
  const { program, positions } = world
  const executor: Executor = async (ctx, helpers) => {
    await life.pause(1)
    const script = program.scripts[Number(taskOf(ctx.items)) % program.scripts.length] ?? []
    const at = positions.get(ctx.conversation) ?? 0
    positions.set(ctx.conversation, at + 1)
    checkHistory(world, life, ctx.conversation, ctx.items)
    return recorded(world.ledger, ctx, helpers, () => decisionOf(script[at], ctx.items))
  }
  const tools = toolsOf(world, life, depth + 1)
  return subAgent({
    name: 'agent',
    description: 'Hands it on.',
    trust: 'first-party',
    agent: {
      executor,
      tools,
      testing: { sleep: async () => {} },
      ...compactOf(world.program.settings, life),
    },
  })
}
