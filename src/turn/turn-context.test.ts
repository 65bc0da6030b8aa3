import { expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import type { Model } from '../model/model.ts'
import { sourceOf } from '../records/growing-history.ts'
import type { HistoryItem } from '../records/history-item.ts'
import { Memory } from '../records/memory.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { DispatchContext } from './dispatch-context.ts'
import type { Middleware } from './middleware.ts'
import { modelExecutor } from './model-executor.ts'
import { TurnRunner } from './turn-runner.ts'

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

it('gives each iteration its own list of items, which nobody can change', async () => {
  const kept: (readonly HistoryItem[])[] = []
  const refusals: unknown[] = []
  const runner = new TurnRunner({
    tools: [look],
    executor: async (ctx) => {
      kept.push(ctx.items)
      expect(ctx.items).toBe(ctx.items)
      try {
        ;(ctx.items as HistoryItem[]).pop()
      } catch (error) {
        refusals.push(error)
      }
      return ctx.iteration < 3 ? { calls: [{ tool: 'look', args: {} }] } : { answer: 'done' }
    },
  })
  await runner.run({ message: 'go' })
  expect(kept.map((items) => items.length)).toEqual([1, 2, 3])
  expect(kept[2]?.slice(0, 2)).toEqual(kept[1])
  expect(refusals).toHaveLength(3)
})

it('gives whoever encodes at once the same growing list, copies of the context a snapshot of it', async () => {
  const views: ((ctx: DispatchContext) => DispatchContext)[] = [
    (ctx) => ctx,
    (ctx) => Object.create(ctx) as DispatchContext,
    (ctx) => new Proxy(ctx, {}),
    (ctx) => ({ ...ctx }),
  ]
  for (const [at, view] of views.entries()) {
    const sent: (readonly HistoryItem[])[] = []
    const inner = scriptedModel([
      [{ call: 'look' }],
      [{ call: 'look', args: { q: 'x' } }],
      [{ text: 'ok' }],
    ])
    const model: Model = {
      ...inner,
      stream(request, options) {
        sent.push(request.items)
        return inner.stream(request, options)
      },
    }
    const ask = modelExecutor(model)
    const runner = new TurnRunner({
      tools: [look],
      executor: (ctx, helpers) => ask(view(ctx), helpers),
    })
    expect((await runner.run({ message: 'go' })).status).toBe('completed')
    expect(inner.requests.map(({ items }) => items.length)).toEqual([1, 2, 3])
    expect(new Set(sent).size).toBe(at < 3 ? 1 : 3)
    expect(new Set(sent.map(sourceOf)).size).toBe(1)
  }
})

it('tells of memories as they are, and lets nobody put in what is none', async () => {
  const counts: number[] = []
  const layer: Middleware = {
    async dispatch(ctx, next) {
      const before = ctx.memories
      ctx.addMemory(new Memory({ id: 'm', content: 'Dutch.', createdAt: 0 }))
      counts.push(before.length, ctx.memories.length)
      expect(() => (ctx.memories as unknown[]).push('Dutch.')).toThrow(TypeError)
      expect(() => (ctx.retrievables as unknown[]).push('Dutch.')).toThrow(TypeError)
      await next()
    },
  }
  const executor = async () => ({ answer: 'ok' })
  const { status } = await new TurnRunner({ executor, middleware: [layer] }).run({ message: 'go' })
  expect([status, counts]).toEqual(['completed', [0, 1]])
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
