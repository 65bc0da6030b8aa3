import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { subAgent } from '../nested/sub-agent.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'

type Script = Parameters<typeof scriptedModel>[0]
type Options = Partial<TurnRunnerOptions>

const handOver = (to: string, message?: string) => ({
  call: 'hand_over',
  args: { to, ...(message !== undefined && { message }) },
})

/** Instructions without what the runner says about envelopes. */
const withoutNotice = (instructions = '') => instructions.split(/(?:^|\n\n)Text between/)[0] ?? ''

function desk(store: Store, script: Script, options: Options = {}) {
  const model = scriptedModel(script)
  const look = sampleTool('look', () => 'seen', { trust: 'first-party' })
  const refund = sampleTool('refund', () => 'refunded', { effect: 'write', trust: 'first-party' })
  const runner = new TurnRunner({
    store,
    model,
    instructions: 'Be kind.',
    tools: [look],
    agents: {
      triage: { instructions: 'Sort.', handOverTo: ['billing'] },
      billing: { instructions: 'Bill.', tools: [refund], description: 'Pays money back.' },
    },
    ...options,
  } as TurnRunnerOptions)
  const asked = () =>
    model.requests.map(({ instructions = '', tools = [] }) => [
      withoutNotice(instructions),
      tools.map(({ name }) => name).join(' '),
    ])
  return { runner, model, asked }
}

const SORT = ['Be kind.\n\nSort.', 'look hand_over']
const BILL = ['Be kind.\n\nBill.', 'look refund hand_over']

describe('hand_over', () => {
  it('changes instructions and tools from the next request on, and is a call like any other', async () => {
    const store = memoryStore()
    const script = [[handOver('billing', 'the lamp')], [{ call: 'refund' }], [{ text: 'done' }]]
    const { runner, asked, model } = desk(store, [...script, [{ text: 'more' }]])
    const outcome = await runner.run({ conversation: 'c', message: 'my lamp broke' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'done', agent: 'billing' })
    expect(outcome.toolCalls).toMatchObject([
      { tool: 'hand_over', args: { to: 'billing', message: 'the lamp' }, settlement: 'ok' },
      { tool: 'refund', settlement: 'ok' },
    ])
    expect(asked()).toEqual([SORT, BILL, BILL])
    const tool = model.requests[0]?.tools?.find(({ name }) => name === 'hand_over')
    expect(tool).toMatchObject({
      description: expect.stringContaining('`billing`: Pays money back.'),
      inputSchema: { properties: { to: { enum: ['triage', 'billing'] } } },
    })
    expect(model.requests[1]?.tools?.find(({ name }) => name === 'hand_over')).toEqual(tool)
    await runner.run({ conversation: 'c', message: 'and?' })
    expect(asked().at(-1)).toEqual(BILL)
  })

  it('is remembered by a new process, and given again under the id of a turn', async () => {
    const store = memoryStore()
    const first = desk(store, [[handOver('billing')], [{ text: 'hello' }]])
    await first.runner.run({ conversation: 'c', message: 'hi', turnId: 't' })
    const next = desk({ ...store }, [[{ text: 'yes' }]])
    const joined = await next.runner.run({ conversation: 'c', message: 'hi', turnId: 't' })
    expect(joined).toMatchObject({ text: 'hello', agent: 'billing' })
    expect(await next.runner.run({ conversation: 'c', message: 'there?' })).toMatchObject({
      agent: 'billing',
    })
    expect(next.asked()).toEqual([BILL])
    expect(await store.conversation('c')).toMatchObject({ agent: 'billing' })
    expect(await store.verify({ conversation: 'c' })).toMatchObject({ ok: true })
  })

  it('refuses the tools of another agent, and whoever it may not hand over to', async () => {
    const { runner } = desk(memoryStore(), [
      [{ call: 'refund' }, handOver('triage')],
      [{ text: 'no' }],
    ])
    const { toolCalls, agent } = await runner.run({ message: 'hi' })
    expect(toolCalls).toMatchObject([
      { tool: 'refund', settlement: 'refused' },
      { tool: 'hand_over', settlement: 'refused' },
    ])
    expect(JSON.stringify(toolCalls[1]?.results)).toContain('you may hand over to `billing` only')
    expect(agent).toBe('triage')
  })

  it('runs the calls before it in a response, and refuses those after it', async () => {
    const { runner, asked } = desk(memoryStore(), [
      [{ call: 'look' }, handOver('billing'), { call: 'look', args: { q: 'b' } }, handOver('x')],
      [{ text: 'ok' }],
    ])
    const { toolCalls } = await runner.run({ message: 'hi' })
    const ends = toolCalls.map(({ tool, settlement }) => `${tool} ${settlement}`)
    expect(ends).toEqual(['look ok', 'hand_over ok', 'look refused', 'hand_over refused'])
    expect(asked().at(-1)).toEqual(BILL)
  })

  it('asks the model of the active agent, and tells executors who that is', async () => {
    const billing = scriptedModel([[{ text: 'billed' }]])
    const { runner, asked } = desk(memoryStore(), [[handOver('billing')]], {
      agents: { triage: {}, billing: { model: billing } },
    })
    expect(await runner.run({ message: 'hi' })).toMatchObject({ text: 'billed' })
    expect([asked().length, billing.requests.length]).toEqual([1, 1])
    const seen: unknown[] = []
    const own = new TurnRunner({
      executor: async ({ agent }) => {
        seen.push(agent)
        if (agent === 'b') return { answer: 'here' }
        return { calls: [{ tool: 'hand_over', args: { to: 'b' } }] }
      },
      agents: { a: {}, b: {} },
    })
    expect(await own.run({ message: 'hi' })).toMatchObject({ text: 'here', agent: 'b' })
    expect(seen).toEqual(['a', 'b'])
  })

  it('continues a gated call of the agent that has handed over', async () => {
    const store = memoryStore()
    let paid = 0
    const pay = sampleTool('pay', () => `paid ${++paid}`, { effect: 'write', approval: true })
    const options = { agents: { a: { tools: [pay] }, b: { instructions: 'B.' } } }
    const first = desk(store, [[{ call: 'pay' }, handOver('b')]], options)
    const { status, gates, agent } = await first.runner.run({ conversation: 'c', message: 'go' })
    expect({ status, agent }).toEqual({ status: 'suspended', agent: 'b' })
    const next = desk({ ...store }, [[{ text: 'paid' }]], options)
    const decisions = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
    const outcome = await next.runner.resume({ conversation: 'c', decisions })
    expect(outcome).toMatchObject({ text: 'paid', agent: 'b', toolCalls: [{ settlement: 'ok' }] })
    expect(paid).toBe(1)
    expect(next.asked()).toEqual([['Be kind.\n\nB.', 'look hand_over']])
  })

  it('survives a process that dies after it, and before it was recorded', async () => {
    for (const isRecorded of [true, false]) {
      const store = memoryStore()
      const begun = byHand()
      const hang = () => {
        begun.resolve()
        return new Promise<never>(() => {})
      }
      const first = desk(store, [[handOver('billing')]], {
        middleware: [
          {
            call: async (_, next) => (isRecorded ? next() : hang()),
          },
        ],
        ...(isRecorded && {
          model: {
            ...scriptedModel([[handOver('billing')]]),
            async *stream(request: never, options: never) {
              const { items } = request as { items: readonly unknown[] }
              if (items.length > 1) await hang()
              yield* scriptedModel([[handOver('billing')]]).stream(request, options)
            },
          },
        }),
      })
      void first.runner.run({ conversation: 'c', message: 'hi' })
      await begun.promise
      const { epoch = 0 } = (await store.conversation('c')) ?? {}
      await store.release('c', epoch)
      const next = desk({ ...store }, [[{ text: 'hello' }]])
      const outcome = await next.runner.recover({ conversation: 'c' })
      expect(outcome).toMatchObject({ status: 'completed', agent: 'billing' })
      expect(next.asked()).toEqual([BILL])
    }
  })

  it('is taken back with the turn that handed over', async () => {
    const store = memoryStore()
    const { runner, asked } = desk(store, [
      [handOver('billing')],
      [{ text: 'one' }],
      [{ text: 'two' }],
    ])
    await runner.run({ conversation: 'c', message: 'hi' })
    const again = await runner.regenerate({ conversation: 'c' })
    expect(again).toMatchObject({ text: 'two', agent: 'triage' })
    expect(asked()).toEqual([SORT, BILL, SORT])
    expect(await store.conversation('c')).toMatchObject({ agent: 'triage' })
    const next = desk({ ...store }, [[{ text: 'three' }]])
    await next.runner.run({ conversation: 'c', message: 'more' })
    expect(next.asked()).toEqual([SORT])
  })

  it('survives a budget, a summary, a fork, and an export', async () => {
    const store = memoryStore()
    const long = 'word '.repeat(300)
    const compact = { at: 500, keepTurns: 1, summarise: () => 'SUMMARY' }
    const answers = Array.from({ length: 4 }, () => [{ text: long }])
    const { runner, asked, model } = desk(store, [[handOver('billing')], ...answers], {
      compact,
      budget: { maxTokens: 5000 },
    })
    for (const message of ['one', 'two', 'three', 'four']) {
      await runner.run({ conversation: 'c', message })
    }
    expect(JSON.stringify(model.requests.at(-1)?.items)).toContain('SUMMARY')
    expect(asked().slice(1)).toEqual([BILL, BILL, BILL, BILL])
    await store.fork('c', { to: 'forked' })
    const lines: string[] = []
    for await (const line of store.export('c')) lines.push(line)
    await store.import(lines, { conversation: 'imported' })
    for (const conversation of ['forked', 'imported']) {
      expect(await store.conversation(conversation)).toMatchObject({ agent: 'billing' })
      const next = desk({ ...store }, [[{ text: 'x' }]])
      await next.runner.run({ conversation, message: 'hi' })
      expect(next.asked()).toEqual([BILL])
    }
  })

  it('is never cut in two by a fork', async () => {
    const store = memoryStore()
    const script = [[handOver('billing')], [{ text: 'one' }]]
    await desk(store, script).runner.run({ conversation: 'c', message: 'hi' })
    const { length = 0 } = (await store.conversation('c')) ?? {}
    for (let seq = 0; seq <= length; seq++) {
      const { id } = await store.fork('c', { after: { position: `${seq}.0` } })
      const agent = (await store.conversation(id))?.agent
      const { entries } = await store.find({ conversation: id, kind: 'settlement' })
      const begun = (await store.find({ conversation: id, kind: 'turn-start' })).entries.length > 0
      expect([seq, agent]).toEqual([
        seq,
        entries.length > 0 ? 'billing' : begun ? 'triage' : undefined,
      ])
    }
  })

  it('is known where a summary covers the beginning of the turn', async () => {
    const store = memoryStore()
    const look = sampleTool('look', () => 'word '.repeat(200), { trust: 'first-party' })
    const calls = Array.from({ length: 6 }, (_, q) => [{ call: 'look', args: { q: `${q}` } }])
    const compact = { at: 600, keepTurns: 1, summarise: () => 'SUMMARY' }
    const script = [[handOver('billing')], ...calls, [{ text: 'done' }]]
    const { runner } = desk(store, script, { compact, tools: [look] })
    await runner.run({ conversation: 'c', message: 'hi' })
    const next = desk({ ...store }, [[{ text: 'x' }]], { compact, tools: [look] })
    await next.runner.run({ conversation: 'c', message: 'more' })
    expect(next.asked()).toEqual([BILL])
  })

  it('happens inside a sub-agent too', async () => {
    const inner = scriptedModel([[handOver('b')], [{ text: 'inner answer' }]])
    const outer = scriptedModel([[{ call: 'ask', args: { task: 'x' } }], [{ text: 'outer' }]])
    const ask = subAgent({
      name: 'ask',
      description: 'Asks.',
      agent: { model: inner, agents: { a: {}, b: { instructions: 'B.' } } },
    })
    const outcome = await new TurnRunner({ model: outer, tools: [ask] }).run({ message: 'hi' })
    expect(outcome).toMatchObject({ text: 'outer', toolCalls: [{ tool: 'ask', settlement: 'ok' }] })
    expect('agent' in outcome).toBe(false)
    expect(inner.requests.map(({ instructions }) => withoutNotice(instructions))).toEqual([
      '',
      'B.',
    ])
  })

  it('lets the agent that has taken over correct its answer', async () => {
    const { runner, asked } = desk(memoryStore(), [
      [handOver('billing')],
      [{ text: 'not JSON' }],
      [{ text: '{"amount":7}' }],
    ])
    const output = { schema: z.object({ amount: z.number() }), attempts: 2 }
    const outcome = await runner.run({ message: 'hi', output })
    expect(outcome).toMatchObject({ output: { amount: 7 }, agent: 'billing' })
    expect(asked()).toEqual([SORT, BILL, BILL])
  })

  it('begins with the first agent if the stored one is gone', async () => {
    const store = memoryStore()
    await desk(store, [[handOver('billing')], [{ text: 'a' }]]).runner.run({
      conversation: 'c',
      message: 'hi',
    })
    const agents = { sales: { instructions: 'Sell.' } }
    const next = desk(store, [[{ text: 'b' }]], { agents })
    const outcome = await next.runner.run({ conversation: 'c', message: 'hi' })
    expect(outcome).toMatchObject({ agent: 'sales' })
    expect(next.asked()).toEqual([['Be kind.\n\nSell.', 'look']])
  })

  it('takes functions for the tools and instructions of an agent, with the context', async () => {
    const store = memoryStore()
    const vip = sampleTool('vip', () => 'x')
    const { runner, asked } = desk(store, [[{ text: 'x' }]], {
      agents: {
        a: {
          instructions: ({ context }) => `For ${(context as { user: string }).user}.`,
          tools: async () => [vip],
        },
      },
    })
    await runner.run({ message: 'hi', context: { user: 'ann' } })
    expect(asked()).toEqual([['Be kind.\n\nFor ann.', 'look vip']])
    const failing = desk(store, [], {
      agents: { a: { tools: () => Promise.reject(new Error('down')) } },
    })
    expect(await failing.runner.run({ message: 'hi' })).toMatchObject({
      status: 'failed',
      reason: { message: expect.stringContaining('`agents.a.tools` of the runner failed: down') },
    })
  })
})

describe('the option agents', () => {
  const model = scriptedModel([])
  const make = (agents: unknown, more: object = {}) =>
    new TurnRunner({ model, agents, ...more } as never)

  it.each([
    ['no agents', {}],
    ['a list', [{}]],
    ['a stray member', { a: { prompt: 'x' } }],
    ['wrong instructions', { a: { instructions: 1 } }],
    ['wrong tools', { a: { tools: 1 } }],
    ['a wrong model', { a: { model: {} } }],
    ['an unknown agent to hand over to', { a: { handOverTo: ['b'] } }],
    ['itself to hand over to', { a: { handOverTo: ['a'] } }],
  ])('refuses %s', (_, agents) => {
    expect(() => make(agents)).toThrow(expect.objectContaining({ code: 'E_INVALID_RUNNER' }))
  })

  it('refuses two tools of one name, and takes one tool that agents share', () => {
    const [one, other] = [sampleTool('look', () => ''), sampleTool('look', () => '')]
    const named = sampleTool('hand_over', () => '')
    make({ a: { tools: [one] }, b: { tools: [one] } }, { tools: [one] })
    expect(() => make({ a: { tools: [one] }, b: { tools: [other] } })).toThrow(
      '`agents.b.tools` of `TurnRunner` has a tool named `look`',
    )
    expect(() => make({ a: { tools: [named] }, b: {} })).toThrow('belongs to the tool that hands')
  })

  it('needs a price for the model of every agent if there is a limit of cost', () => {
    const priced = { limits: { cost: 1 }, prices: { [model.model]: { input: 1, output: 1 } } }
    const other = { ...scriptedModel([]), model: 'other' }
    make({ a: {} }, priced)
    expect(() => make({ a: { model: other } }, priced)).toThrow('needs a price for `other`')
  })
})
