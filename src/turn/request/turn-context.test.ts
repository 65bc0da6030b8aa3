import { expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { Middleware } from '../call/middleware.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { DispatchContext } from './dispatch-context.ts'

const look = sampleTool('look', () => 'nothing')

/** What an executor sees of its second iteration through what `view` makes of its context. */
async function secondIteration(view: (ctx: DispatchContext) => DispatchContext) {
  let seen: unknown
  const runner = new TurnRunner({
    tools: [look],
    instructions: 'Look.',
    executor: async (given) => {
      const ctx = view(given)
      if (given.iteration === 1) return { calls: [{ tool: 'look', args: {} }] }
      const { iteration, instructions, items, tools, turnToolCalls, conversation } = ctx
      seen = {
        iteration,
        instructions,
        items: items.map(({ type }) => type),
        tools: tools.names,
        calls: turnToolCalls.length,
        conversation,
        count: ctx.toolCallCount(turnToolCalls[0]?.checksum ?? ''),
        own: Object.keys(given).sort(),
      }
      return { answer: 'done' }
    },
  })
  await runner.run({ message: 'go', conversation: 'one' })
  return seen
}

it('tells of the turn as it is, in copies and behind other objects too', async () => {
  const direct = await secondIteration((ctx) => ctx)
  expect(direct).toMatchObject({
    iteration: 2,
    instructions: expect.stringContaining('Look.'),
    items: ['message', 'call'],
    tools: ['look'],
    calls: 1,
    conversation: 'one',
    count: 1,
    own: expect.arrayContaining(['instructions', 'items', 'iteration', 'tools', 'turnToolCalls']),
  })
  expect(await secondIteration((ctx) => ({ ...ctx }))).toEqual(direct)
  expect(await secondIteration((ctx) => Object.create(ctx))).toEqual(direct)
  expect(await secondIteration((ctx) => new Proxy(ctx, {}))).toEqual(direct)
})

it('lets nobody take tools or calls away from the turns that follow', async () => {
  const refusals: unknown[] = []
  const attempt = (change: () => unknown) => {
    try {
      change()
    } catch (error) {
      refusals.push(error)
    }
  }
  const counts: number[] = []
  const runner = new TurnRunner({
    tools: [look],
    executor: async (ctx) => {
      counts.push(ctx.turnToolCalls.length)
      attempt(() => ctx.tools.delete('look'))
      attempt(() => ctx.tools.register(sampleTool('other', () => 'x')))
      ;(ctx.turnToolCalls as unknown[]).length = 0
      const call = { tool: 'look', args: {} }
      return ctx.iteration === 1 ? { calls: [call] } : { answer: ctx.tools.names.join() }
    },
  })
  for (const conversation of ['one', 'one', 'two']) {
    const outcome = await runner.run({ message: 'go', conversation })
    expect(outcome).toMatchObject({ text: 'look', toolCalls: [{ settlement: 'ok' }] })
  }
  expect(counts).toEqual([0, 1, 1, 2, 0, 1])
  expect(refusals).toHaveLength(12)
  expect(refusals[0]).toMatchObject({ code: 'E_REGISTRY_FROZEN', data: { tool: 'look' } })
})

it.each([
  ['addMemory', 'Memory'],
  ['addRetrievable', 'Retrievable'],
] as const)('says what %s takes', async (method, name) => {
  const untold: Middleware = {
    async dispatch(ctx, next) {
      ctx[method]('The archive is in Dutch.' as never)
      await next()
    },
  }
  const executor = async () => ({ answer: 'never' })
  const { reason } = await new TurnRunner({ executor, middleware: [untold] }).run({ message: 'go' })
  expect(reason).toEqual({
    code: 'MIDDLEWARE',
    errorCode: 'E_INVALID_TURN_INPUT',
    message: `Middleware failed: \`${method}\` takes a ${name}: \`new ${name}({ … })\`.`,
  })
})
