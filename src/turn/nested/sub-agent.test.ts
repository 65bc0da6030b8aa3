import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { type ScriptedModel, scriptedModel } from '../../testing/scripted-model.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Middleware } from '../call/middleware.ts'
import type { Executor } from '../executor/executor.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

const ask = { call: 'research', args: { task: 'find out' }, id: 'r1' }
const askOnce = () => scriptedModel([[ask], [{ text: 'the answer' }]])

const research = (agent: TurnRunnerOptions, more: object = {}) =>
  subAgent({ name: 'research', description: 'Finds things out.', agent, ...more })

const NAME = /^c\/[0-9a-f]{64}$/

const textOf = (model: ScriptedModel, at: number) => JSON.stringify(model.requests[at]?.items)

describe('subAgent', () => {
  it('runs a turn as a tool, in a conversation named by the idempotency key', async () => {
    const store = memoryStore()
    const inner = scriptedModel([[{ call: 'look' }], [{ text: 'it was disk 7' }]])
    const outer = askOnce()
    const tool = research({ model: inner, tools: [sampleTool('look', () => 'seen')] })
    const runner = new TurnRunner({ model: outer, tools: [tool], store })
    const recorder = eventRecorder(runner)
    const outcome = await runner.run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({
      status: 'completed',
      toolCalls: [{ tool: 'research', settlement: 'ok' }],
    })
    expect(textOf(inner, 0)).toContain('find out')
    expect(textOf(outer, 1)).toContain('it was disk 7')
    const ids = (await store.conversations()).map(({ id }) => id)
    expect(ids).toEqual(['k', 'k/r1'])
    expect(await store.conversations({ topLevel: true })).toMatchObject([{ id: 'k' }])
    const [start] = (await store.find({ conversation: 'k/r1', kind: 'turn-start' })).entries
    expect(start?.entry.data).toEqual({
      input: 'run',
      parent: { conversation: 'k', turnId: outcome.turnId },
    })
    // Watched like the outer turn; its texts and calls are not the outer turn's.
    expect(recorder.of('turnStart')).toHaveLength(2)
    expect(recorder.of('toolExecutionStart').map(({ tool: name }) => name)).toEqual([
      'research',
      'look',
    ])
    expect(recorder.of('message').map(({ delta }) => delta)).toEqual(['the answer'])
    expect(new Set(recorder.of('toolCall').map(({ tool: name }) => name))).toEqual(
      new Set(['research']),
    )
  })

  it('has the secrets of the turn around it, and seals its envelopes under the same one', async () => {
    const run = async (conversationSecret: Uint8Array) => {
      const got: string[] = []
      const look = sampleTool('look', async (_, ctx) => {
        got.push((await ctx.secret?.('key')) ?? '')
        return 'seen'
      })
      const inner = scriptedModel([[{ call: 'look', id: 'l' }], [{ text: 'ok' }]])
      const tools = [research({ model: inner, tools: [look] })]
      const secrets = (name: string) => `the ${name}`
      const runner = new TurnRunner({ model: askOnce(), tools, conversationSecret, secrets })
      await runner.run({ message: 'go', conversation: 'k' })
      expect(got).toEqual(['the key'])
      return /nonce=[^>]+>/.exec(textOf(inner, 1))?.[0]
    }
    const one = await run(new Uint8Array(32).fill(1))
    expect(one).toBeDefined()
    expect(await run(new Uint8Array(32).fill(1))).toBe(one)
    expect(await run(new Uint8Array(32).fill(2))).not.toBe(one)
  })

  it('takes arguments of its own and makes the message from them', async () => {
    const inner = scriptedModel([[{ text: 'ok' }]])
    const tool = subAgent({
      name: 'research',
      description: 'x',
      agent: { model: inner },
      inputSchema: z.object({ topic: z.string(), depth: z.number().default(2) }),
      message: ({ topic, depth }) => `Look into ${topic}, ${depth} deep.`,
    })
    const call = { call: 'research', args: { topic: 'disks' } }
    const model = scriptedModel([[call], [{ text: 'x' }]])
    await new TurnRunner({ model, tools: [tool] }).run({ message: 'go' })
    expect(textOf(inner, 0)).toContain('Look into disks, 2 deep.')
  })

  it('tells all arguments when none is the task and nothing makes a message of them', async () => {
    const inner = scriptedModel([[{ text: 'ok' }]])
    const tool = research({ model: inner }, { inputSchema: z.object({ topic: z.string() }) })
    const call = { call: 'research', args: { topic: 'disks' } }
    const model = scriptedModel([[call], [{ text: 'done' }]])
    await new TurnRunner({ model, tools: [tool] }).run({ message: 'go' })
    expect(inner.requests[0]?.items[0]).toMatchObject({ parts: [{ text: '{"topic":"disks"}' }] })
  })

  it('fails its call when the inner turn does not complete', async () => {
    const inner = scriptedModel([{ error: new Error('inner bug') }])
    const outer = askOnce()
    const runner = new TurnRunner({ model: outer, tools: [research({ model: inner })] })
    const { toolCalls, status } = await runner.run({ message: 'go' })
    expect(status).toBe('completed')
    expect(toolCalls).toMatchObject([{ settlement: 'failed' }])
    expect(textOf(outer, 1)).toContain('inner bug')
  })

  it('hands the abort down', async () => {
    const inner = scriptedModel([{ until: byHand().promise }])
    const store = memoryStore()
    const runner = new TurnRunner({
      model: scriptedModel([[ask]]),
      tools: [research({ model: inner })],
      store,
    })
    const outcome = await runner.run({
      message: 'go',
      conversation: 'k',
      signal: AbortSignal.timeout(20),
    })
    expect(outcome).toMatchObject({ status: 'aborted', toolCalls: [{ settlement: 'aborted' }] })
    await new Promise((resolve) => setTimeout(resolve, 20))
    const [end] = (await store.find({ conversation: 'k/r1', kind: 'turn-end' })).entries
    expect(end?.entry.data).toMatchObject({ status: 'aborted' })
  })

  it('stops in time when its call is given up', async () => {
    const tool = research({ executor: () => byHand<never>().promise }, { timeoutMs: 20 })
    const runner = new TurnRunner({ model: askOnce(), tools: [tool] })
    const recorder = eventRecorder(runner)
    const { toolCalls } = await runner.run({ message: 'go' })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(toolCalls).toMatchObject([{ settlement: 'timed-out' }])
    expect(recorder.of('warning')).toEqual([])
  })

  it('hands policy and taint down, and taint back up', async () => {
    let writes = 0
    const write = () => sampleTool('write', () => `${++writes}`, { effect: 'write' })
    const inner = () => scriptedModel([[{ call: 'write' }], [{ text: 'wrote' }]])
    const search = sampleTool('search', () => 'a stranger')
    const play = (agent: Partial<TurnRunnerOptions>, options: Partial<TurnRunnerOptions>) => {
      const tool = research({ model: inner(), tools: [write()], ...agent } as TurnRunnerOptions)
      const model = scriptedModel([[{ call: 'search' }], [ask], [{ text: 'x' }]])
      const runner = new TurnRunner({
        tools: [search, tool],
        ...options,
        model,
      } as TurnRunnerOptions)
      return runner.run({ message: 'go' })
    }
    expect((await play({}, {})).status).toBe('suspended')
    expect((await play({}, { policy: 'open' })).status).toBe('completed')
    expect((await play({ policy: 'open' }, {})).status).toBe('suspended')
    expect(writes).toBe(1)
    const gossip = research(
      { model: scriptedModel([[{ call: 'search' }], [{ text: 'heard' }]]), tools: [search] },
      { trust: 'first-party' },
    )
    const runner = new TurnRunner({ model: askOnce(), tools: [gossip] })
    expect((await runner.run({ message: 'go' })).toolCalls[0]?.trust).toBe('third-party')
  })

  it('remembers in the inner conversation what the turn around it had seen', async () => {
    const store = memoryStore()
    const tools = [
      sampleTool('search', () => 'a stranger'),
      research({ model: scriptedModel([[{ text: 'done' }]]) }),
    ]
    const model = scriptedModel([[{ call: 'search' }], [ask], [{ text: 'x' }]])
    await new TurnRunner({ store, tools, model }).run({ message: 'go', conversation: 'c' })
    const write = sampleTool('write', () => 'wrote', { effect: 'write', trust: 'first-party' })
    const direct = new TurnRunner({
      store,
      tools: [write],
      model: scriptedModel([[{ call: 'write' }], [{ text: 'x' }]]),
    })
    const outcome = await direct.run({ message: 'go on', conversation: 'c/r1' })
    expect(outcome.status).toBe('suspended')
  })

  it('never enters a conversation that is not its own, whatever a call is named', async () => {
    const store = memoryStore()
    const own = new TurnRunner({ store, model: scriptedModel([[{ text: 'the PIN is 1234' }]]) })
    await own.run({ message: 'keep it', conversation: 'c/r1' })
    const before = (await store.conversation('c/r1'))?.epoch
    const inner = scriptedModel([[{ text: 'never said' }]])
    const model = scriptedModel([[ask], [{ text: 'x' }]])
    const runner = new TurnRunner({ store, model, tools: [research({ model: inner })] })
    const outcome = await runner.run({ message: 'go', conversation: 'c' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'failed' }] })
    expect(textOf(model, 1)).not.toContain('1234')
    expect(inner.requests).toEqual([])
    expect((await store.conversation('c/r1'))?.epoch).toBe(before)
  })

  it.each([
    ['at length', 'r'.repeat(600)],
    ['with what no name may hold', 'r\0\ud800'],
  ])('has a conversation of its own also when its call is named %s', async (_, id) => {
    const store = memoryStore()
    const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
    const inner = scriptedModel([[{ call: 'pay' }], [{ text: 'paid' }], [{ call: 'pay' }]])
    const model = scriptedModel([
      [{ ...ask, id }],
      [{ text: 'x' }],
      [{ ...ask, id }],
      [{ text: 'x' }],
    ])
    const runner = new TurnRunner({
      store,
      model,
      tools: [research({ model: inner, tools: [pay] })],
    })
    const { gates } = await runner.run({ message: 'go', conversation: 'c' })
    const decisions = gates.map((gate) => ({ gate: gate.id, approve: true, decidedBy: 'ann' }))
    const outcome = await runner.resume({ conversation: 'c', decisions })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    await runner.run({ message: 'again', conversation: 'c' })
    const next = await runner.run({ message: 'never mind', conversation: 'c' })
    expect(next.toolCalls).toMatchObject([{ settlement: 'abandoned' }])
    expect(await store.openGates()).toEqual([])
    const names = (await store.conversations()).map((found) => found.id)
    expect(names).toEqual(['c', expect.stringMatching(NAME), expect.stringMatching(NAME)])
    await store.delete('c')
    expect(await store.conversations()).toEqual([])
  })

  it('takes what middleware makes of a result that holds a stranger’s words', async () => {
    const search = sampleTool('search', () => 'a stranger')
    const gossip = research(
      {
        model: scriptedModel([[{ call: 'search' }], [{ text: 'the PIN is 1234' }]]),
        tools: [search],
      },
      { trust: 'first-party' },
    )
    const redact: Middleware = {
      async call(subject, next) {
        await next()
        return subject.record({ settlement: 'ok', results: new Tokenizable('[removed]') })
      },
    }
    const model = askOnce()
    const runner = new TurnRunner({ model, tools: [gossip], middleware: [redact] })
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(toolCalls).toMatchObject([{ results: { text: '[removed]' }, trust: 'third-party' }])
    expect(textOf(model, 1)).not.toContain('1234')
  })

  it('keeps the inner turn within the smaller of both budgets', async () => {
    const limits = async (inner: number | undefined, outer: number) => {
      const budget = inner === undefined ? {} : { budget: { maxTokens: inner } }
      const tool = research({ model: scriptedModel([[{ text: 'ok' }]]), ...budget })
      const model = askOnce()
      const runner = new TurnRunner({ model, tools: [tool], budget: { maxTokens: outer } })
      const recorder = eventRecorder(runner)
      await runner.run({ message: 'go', conversation: 'k' })
      const own = recorder.events.filter(({ origin }) => origin.conversation !== 'k')
      return own.flatMap((event) => (event.name === 'budget' ? [event.content.limit] : []))
    }
    expect(await limits(undefined, 50_000)).toEqual([50_000])
    expect(await limits(90_000, 50_000)).toEqual([50_000])
    expect(await limits(20_000, 50_000)).toEqual([20_000])
  })

  it('nests three deep and no deeper', async () => {
    const deep = (level: number): Tool => {
      const model = scriptedModel([[ask], [{ text: `level ${level}` }]])
      return research({ model, tools: level === 0 ? [] : [deep(level - 1)] })
    }
    const store = memoryStore()
    const runner = new TurnRunner({ model: askOnce(), tools: [deep(5)], store })
    const outcome = await runner.run({ message: 'go', conversation: 'k' })
    expect(outcome.status).toBe('completed')
    expect(await store.conversations()).toHaveLength(4)
    const { entries } = await store.find({ kind: 'settlement', tool: 'research' })
    const failed = entries.filter(
      ({ entry }) => (entry.data as { settlement?: string }).settlement !== 'ok',
    )
    expect(failed.map(({ conversation }) => conversation)).toEqual(['k/r1/r1/r1'])
  })
})

describe('the gates of a nested turn', () => {
  /** An outer turn whose inner turn waits for leave to pay, over fresh runners on one store. */
  function nested() {
    const store = memoryStore()
    const paid: unknown[] = []
    const steps: ScriptedModel[] = []
    const runner = (inner: ScriptedModel, outer: ScriptedModel) => {
      steps.push(inner, outer)
      const pay = sampleTool(
        'pay',
        ({ q }) => {
          paid.push(q)
          return 'paid'
        },
        { effect: 'write', approval: true },
      )
      const agent = { model: inner, tools: [pay] }
      return new TurnRunner({ model: outer, tools: [research(agent)], store })
    }
    const begin = () =>
      runner(
        scriptedModel([[{ call: 'pay', args: { q: 'bob' }, id: 'p1' }]]),
        scriptedModel([[ask]]),
      ).run({
        message: 'go',
        conversation: 'k',
      })
    return { store, paid, runner, begin, done: () => steps.forEach((model) => model.done()) }
  }

  it('surface in the turn around it and are answered there', async () => {
    const { begin, runner, paid, store, done } = nested()
    const first = await begin()
    expect(first).toMatchObject({
      status: 'suspended',
      toolCalls: [],
      gates: [
        { toolCallId: 'r1', tool: 'pay', args: { q: 'bob' }, context: { conversation: 'k/r1' } },
      ],
    })
    const inner = scriptedModel([[{ text: 'paid bob' }]])
    const next = runner(inner, scriptedModel([[{ text: 'all done' }]]))
    const [gate] = first.gates
    const decisions = [
      { gate: gate?.id ?? '', approve: true, decidedBy: 'ann', digest: gate?.digest ?? '' },
    ]
    const outcome = await next.resume({ conversation: 'k', decisions })
    expect(outcome).toMatchObject({
      status: 'completed',
      text: 'all done',
      toolCalls: [{ id: 'r1', settlement: 'ok' }],
    })
    // The task is not told a second time.
    expect(inner.requests[0]?.items.map(({ type }) => type)).toEqual(['message', 'call'])
    expect(paid).toEqual(['bob'])
    expect(await store.openGates()).toEqual([])
    done()
  })

  it('are answered and declined where they are: in a store of the agent’s own', async () => {
    const [outer, own] = [memoryStore(), memoryStore()]
    const paid: string[] = []
    const once = (tool: string, args: object): Executor => {
      return async ({ items }) =>
        items.some(({ type }) => type === 'call')
          ? { answer: 'done' }
          : { calls: [{ tool, args: { ...args }, id: tool }] }
    }
    const pay = sampleTool('pay', () => `${paid.push('x')}`, { effect: 'write', approval: true })
    const agent = { executor: once('pay', {}), tools: [pay], store: own }
    const deep = research({ executor: once('research', ask.args), tools: [research(agent)] })
    const runner = new TurnRunner({
      executor: once('research', ask.args),
      tools: [deep],
      store: outer,
    })
    const { gates } = await runner.run({ message: 'go', conversation: 'k' })
    const decisions = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
    const outcome = await runner.resume({ conversation: 'k', decisions })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(paid).toHaveLength(1)
    await runner.run({ message: 'go', conversation: 'other' })
    expect(await own.openGates()).toHaveLength(1)
    await runner.run({ message: 'never mind', conversation: 'other' })
    expect([...(await outer.openGates()), ...(await own.openGates())]).toEqual([])
    expect(paid).toHaveLength(1)
  })

  it('can be edited and denied from there', async () => {
    const edited = nested()
    const [gate] = (await edited.begin()).gates
    const after = () =>
      [scriptedModel([[{ text: 'ok' }]]), scriptedModel([[{ text: 'ok' }]])] as const
    await edited.runner(...after()).resume({
      conversation: 'k',
      decisions: [{ gate: gate?.id ?? '', approve: true, decidedBy: 'ann', args: { q: 'carol' } }],
    })
    expect(edited.paid).toEqual(['carol'])
    const denied = nested()
    const [other] = (await denied.begin()).gates
    const outcome = await denied.runner(...after()).resume({
      conversation: 'k',
      decisions: [{ gate: other?.id ?? '', approve: false, decidedBy: 'ann' }],
    })
    expect(outcome.status).toBe('completed')
    expect(denied.paid).toEqual([])
  })

  it('wait on, and are declined when the conversation goes on', async () => {
    const { begin, runner, paid, store } = nested()
    await begin()
    const waits = await runner(scriptedModel([]), scriptedModel([])).resume({
      conversation: 'k',
      decisions: [],
    })
    expect(waits).toMatchObject({ status: 'suspended', gates: [{ toolCallId: 'r1' }] })
    const on = runner(scriptedModel([]), scriptedModel([[{ text: 'fine' }]]))
    const outcome = await on.run({ conversation: 'k', message: 'never mind' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'abandoned' }] })
    expect(paid).toEqual([])
    expect((await store.openGates('k')).length).toBe(0)
  })

  it('end when the inner ones end, decided or not', async () => {
    let now = 0
    const clock = { now: () => ++now }
    const store = memoryStore({ clock })
    let paid = 0
    const pay = sampleTool('pay', () => `${++paid}`, { approval: true })
    const inner = scriptedModel([[{ call: 'pay' }], [{ text: 'not paid' }]])
    const tools = [research({ model: inner, tools: [pay] })]
    const runner = new TurnRunner({ model: askOnce(), tools, store, testing: { clock } })
    const { gates } = await runner.run({ message: 'go', conversation: 'k' })
    const [within] = await store.openGates('k/r1')
    expect(gates.map(({ expiresAt }) => expiresAt)).toEqual([within?.expiresAt])
    await store.decideGate('k', gates[0]?.id ?? '', { verdict: 'approved', decidedBy: 'ann' })
    now = within?.expiresAt ?? 0
    const outcome = await runner.resume({ conversation: 'k', decisions: [] })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(paid).toBe(0)
    expect(await store.openGates()).toEqual([])
  })

  it('are decided by whoever decides for the inner turn, where it says so itself', async () => {
    const asked: string[] = []
    const decide = (name: string, answer: boolean) => async () => {
      asked.push(name)
      return answer
    }
    const pay = sampleTool('pay', () => 'paid', { approval: true })
    const inner = scriptedModel([[{ call: 'pay' }], [{ text: 'done' }]])
    const agent = { model: inner, tools: [pay], approve: decide('inner', true) }
    const options = { tools: [research(agent)], approve: decide('outer', false) }
    const outcome = await new TurnRunner({ ...options, model: askOnce() }).run({ message: 'go' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
    expect(asked).toEqual(['inner'])
  })

  it('are decided in process by whoever decides for the turn around it', async () => {
    const paid: string[] = []
    const pay = sampleTool('pay', () => String(paid.push('x')), { effect: 'write', approval: true })
    const agent = { model: scriptedModel([[{ call: 'pay' }], [{ text: 'ok' }]]), tools: [pay] }
    const runner = new TurnRunner({
      model: askOnce(),
      tools: [research(agent)],
      approve: async () => true,
    })
    expect((await runner.run({ message: 'go' })).status).toBe('completed')
    expect(paid).toEqual(['x'])
  })

  describe('over whose turn the conversation goes on', () => {
    async function leftBehind(work: Tool, isReady: (begun: Promise<void>) => Promise<unknown>) {
      const store = memoryStore()
      const inner = scriptedModel([[{ call: 'work', id: 'w1' }]])
      const tool = research({ model: inner, tools: [work] })
      const first = new TurnRunner({ model: askOnce(), tools: [tool], store })
      const run = first.run({ message: 'go', conversation: 'k' })
      await isReady(run.then(() => {}))
      const { epoch } = await store.acquire('k', { owner: 'somebody', force: true })
      await store.release('k', epoch)
      const next = new TurnRunner({ model: scriptedModel([[{ text: 'x' }]]), tools: [tool], store })
      const recorder = eventRecorder(next)
      const outcome = await next.run({ message: 'something else', conversation: 'k' })
      const inside = await store.get('k/r1', 'settlement', 'w1')
      const gates = await store.openGates()
      expect((await store.verify({ conversation: 'k/r1' })).faults).toEqual([])
      return { outcome, inside: inside?.data['settlement'], gates, recorder }
    }

    it('abandons what its turn waited for', async () => {
      const work = sampleTool('work', () => 'x', { effect: 'write', approval: true })
      const { outcome, inside, gates } = await leftBehind(work, (run) => run)
      expect(outcome.toolCalls).toMatchObject([{ id: 'r1', settlement: 'abandoned' }])
      expect([inside, gates]).toEqual(['denied', []])
    })

    it('surfaces what its turn had begun', async () => {
      const begun = byHand()
      const handler = () => {
        begun.resolve()
        return new Promise<string>(() => {})
      }
      const work = sampleTool('work', handler, { effect: 'write' })
      const { outcome, inside, recorder } = await leftBehind(work, () => begun.promise)
      expect(outcome.toolCalls).toMatchObject([{ id: 'r1', settlement: 'in-doubt' }])
      expect(inside).toBe('in-doubt')
      const told = recorder.of('warning').filter(({ code }) => code === 'IN_DOUBT')
      expect(told.map(({ toolCallId }) => toolCallId)).toEqual(['w1', 'r1'])
    })
  })
})
