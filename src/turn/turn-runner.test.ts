import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { byHand, sampleTool } from '../../test/turn-samples.ts'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { ArgumentPreview } from '../model/events/argument-preview.ts'
import type { Model } from '../model/model.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import { eventRecorder } from '../testing/event-recorder.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { Tool } from '../tools/tool.ts'
import type { Executor } from './executor/executor.ts'
import { TurnRunner } from './turn-runner.ts'

const add = new Tool({
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  effect: 'read',
  handler: ({ a, b }) => String(a + b),
}) as Tool

const resultText = (item: unknown) =>
  (item as { result?: { parts: { text?: string }[] } }).result?.parts
    .map(({ text }) => text)
    .join('\n')

describe('TurnRunner', () => {
  it('takes an executor that is no model at all', async () => {
    const runner = new TurnRunner({
      tools: [add],
      executor: async (ctx) => {
        if (ctx.iteration === 1) return { calls: [{ tool: 'add', args: { a: 1, b: 2 } }] }
        const [call] = ctx.turnToolCalls
        const artifact = call?.results as SpooledArtifact | undefined
        const sum = await artifact?.asString()
        return { answer: `The sum is ${sum}.` }
      },
    })
    const outcome = await runner.run({ message: 'one and two?' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'The sum is 3.', gates: [] })
    expect(outcome.reason).toBeUndefined()
    expect(outcome.toolCalls[0]?.id).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('settles an unknown tool, bad arguments, a throwing, a slow and a good tool, in order', async () => {
    const model = scriptedModel([
      [
        { call: 'nobody', args: {}, id: 'c1' },
        { call: 'add', args: { a: 'one' }, id: 'c2' },
        { call: 'throws', id: 'c3' },
        { call: 'slow', id: 'c4' },
        { call: 'add', args: { a: 1, b: 2 }, id: 'c5' },
      ],
      [{ text: 'I saw five.' }],
    ])
    const throws = sampleTool('throws', () => {
      throw new Error('disk on fire')
    })
    const slow = sampleTool('slow', () => new Promise(() => {}), { timeoutMs: 20 })
    const runner = new TurnRunner({ model, tools: [add, throws, slow] })
    const recorder = eventRecorder(runner)
    const outcome = await runner.run({ message: 'go' })
    model.done()
    expect(outcome.status).toBe('completed')
    expect(outcome.toolCalls.map(({ id, settlement }) => [id, settlement])).toEqual([
      ['c1', 'refused'],
      ['c2', 'refused'],
      ['c3', 'failed'],
      ['c4', 'timed-out'],
      ['c5', 'ok'],
    ])
    const shown = model.requests[1]?.items.filter(({ type }) => type === 'call') ?? []
    expect(shown.map((item) => (item as { id: string }).id)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
    const texts = shown.map(resultText)
    expect(texts[0]).toContain('There is no such tool')
    expect(texts[1]).toContain('do not fit')
    expect(texts[2]).toContain('disk on fire')
    expect(texts[3]).toContain('20 ms')
    expect(texts[4]).toContain('3')
    const told = recorder.of('toolCall')
    expect(told.filter(({ isComplete }) => !isComplete).map(({ id }) => id)).toEqual([
      'c1',
      'c2',
      'c3',
      'c4',
      'c5',
    ])
    expect(new Set(told.filter(({ isComplete }) => isComplete).map(({ id }) => id)).size).toBe(5)
    expect(recorder.of('toolExecutionStart').map(({ toolCallId }) => toolCallId)).toEqual([
      'c3',
      'c4',
      'c5',
    ])
  })

  it.each([
    ['text that is cut off', '{"q":"a"'],
    ['a key twice', '{"q":"a","q":"b"}'],
    ['an integer that would be rounded', '{"q":9007199254740993}'],
    ['no object', '[]'],
    ['no text at all', undefined],
    ['a date', { q: new Date(0) }],
  ])('never runs a tool whose schema takes anything with arguments of %s', async (_, args) => {
    let runs = 0
    const lenient = new Tool({
      name: 'lenient',
      description: 'Takes anything.',
      inputSchema: z.looseObject({}),
      effect: 'write',
      handler: () => `${++runs}`,
    })
    const executor: Executor = async ({ iteration }) =>
      iteration > 1 ? { answer: 'ok' } : { calls: [{ tool: 'lenient', args: args as string }] }
    const runner = new TurnRunner({ executor, tools: [lenient] })
    const { toolCalls, status } = await runner.run({ message: 'go' })
    expect(runs).toBe(0)
    expect(status).toBe('completed')
    expect(toolCalls).toMatchObject([{ settlement: 'refused', args: { $unparsed: {} } }])
  })

  it.each([
    ['nothing', undefined, 'must be an object'],
    ['neither calls nor an answer', {}, '`calls`'],
    ['calls that are no list', { calls: new Set() }, '`calls`'],
    ['an answer that is no text', { answer: 5 }, '`answer`'],
    ['no call', { calls: [{ tool: 'write', args: {} }, null] }, '`calls[1]`'],
    ['a call without a tool', { calls: [{ args: {} }] }, '`calls[0].tool`'],
    ['an id that is no text', { calls: [{ id: 5, tool: 'write', args: {} }] }, '`calls[0].id`'],
    ['a wire that is none', { calls: [{ tool: 'write', args: {}, wire: {} }] }, '`wire`'],
    ['no wire but null', { calls: [{ tool: 'write', args: {}, wire: null }] }, '`wire`'],
    [
      'a wire with an id that is no text',
      {
        calls: [
          {
            tool: 'write',
            args: {},
            wire: { provider: 'p', api: 'a', type: 't', origin: 'natural', callId: 7 },
          },
        ],
      },
      '`wire`',
    ],
  ])('runs nothing of a decision with %s, and says why', async (_, decision, words) => {
    let runs = 0
    const write = sampleTool('write', () => `${++runs}`, { effect: 'write' })
    const executor = async () => decision as never
    const outcome = await new TurnRunner({ executor, tools: [write] }).run({ message: 'go' })
    expect(outcome).toMatchObject({ status: 'failed', reason: { code: 'EXECUTOR_FAILED' } })
    expect(outcome.reason?.message).toContain(words)
    expect(runs).toBe(0)
  })

  it('takes an answer whose calls are spelled out as none', async () => {
    for (const calls of [undefined, null, []]) {
      const runner = new TurnRunner({ executor: async () => ({ answer: 'ok', calls }) as never })
      expect(await runner.run({ message: 'go' })).toMatchObject({ status: 'completed', text: 'ok' })
    }
  })

  it('settles a call that ran and whose arguments or results cannot be recorded', async () => {
    class Odd extends SpooledArtifact {
      constructor(reader: SpoolReader) {
        super(reader)
        // biome-ignore lint/correctness/noConstructorReturn: what a class of an application may do
        return {} as never
      }
    }
    const hostile = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('looked at')
        },
      },
    )
    const odd = sampleTool('odd', () => 'x', { artifactConstructor: () => Odd })
    const proxied = new Tool({
      name: 'proxied',
      description: 'Takes what cannot be looked at.',
      inputSchema: z.object({}).transform(() => hostile),
      handler: () => 'ran',
    })
    const good = sampleTool('good', () => 'fine')
    const calls = [{ call: 'odd' }, { call: 'proxied' }, { call: 'good' }]
    const model = scriptedModel([calls, [{ text: 'ok' }]])
    const runner = new TurnRunner({ model, tools: [odd, proxied, good] })
    const { status, toolCalls } = await runner.run({ message: 'go' })
    expect(status).toBe('completed')
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['failed', 'failed', 'ok'])
  })

  it('announces and completes a call under one id; checksum joins stream, events and record', async () => {
    const model = scriptedModel([
      [{ call: 'add', args: '{"b":2,"a":1}', id: 'c1' }],
      [{ text: 'x' }],
    ])
    const runner = new TurnRunner({ model, tools: [add] })
    const recorder = eventRecorder(runner)
    const { toolCalls } = await runner.run({ message: 'go' })
    const [asked, settled] = recorder.of('toolCall')
    const [call] = toolCalls
    expect(asked).toMatchObject({
      id: 'c1',
      isComplete: false,
      isError: false,
      args: { a: 1, b: 2 },
    })
    expect(asked).not.toHaveProperty('results')
    expect(settled).toMatchObject({ id: 'c1', isComplete: true, isError: false })
    expect(settled?.results).toBe(call?.results)
    const [start] = recorder.of('toolExecutionStart')
    const [end] = recorder.of('toolExecutionEnd')
    const { checksum } = call ?? {}
    expect([asked?.checksum, settled?.checksum, start?.callId, end?.callId]).toEqual([
      checksum,
      checksum,
      checksum,
      checksum,
    ])
    expect(recorder.of('toolInput')).toMatchObject([{ tool: 'add', delta: '{"b":2,"a":1}' }])
  })

  it('tells arguments piece by piece, to be shown while they grow', async () => {
    const pieces = ['{"city":"Zü', 'rich","days":', '3}']
    const model = {
      ...scriptedModel([]),
      async *stream() {
        for (const delta of pieces) yield { type: 'toolInput', key: '0', tool: 'plan', delta }
        const parts = [{ type: 'text', text: 'x' }]
        const items = [{ type: 'message', role: 'assistant', parts }]
        yield { type: 'finish', reason: 'stop', items, unfinished: [] }
      },
    } as unknown as Model
    const runner = new TurnRunner({ model })
    const previews = new Map<string, ArgumentPreview>()
    const shown: string[] = []
    runner.on('toolInput', ({ id, delta }) => {
      const preview = previews.get(id) ?? new ArgumentPreview()
      previews.set(id, preview)
      preview.push(delta)
      shown.push(JSON.stringify(preview.value))
    })
    await runner.run({ message: 'go' })
    const city = 'Zürich'
    const whole = { city, days: 3 }
    expect(shown).toEqual([{ city: 'Zü' }, { city }, whole].map((value) => JSON.stringify(value)))
  })

  it('has one turn id everywhere', async () => {
    const model = scriptedModel([[{ call: 'look', id: 'c' }, { text: 'hm' }], [{ text: 'x' }]])
    const store = memoryStore()
    const look = sampleTool('look', (_, ctx) => {
      ctx.progress(1)
      return 'seen'
    })
    const runner = new TurnRunner({ model, tools: [look], store, budget: { maxTokens: 100_000 } })
    const recorder = eventRecorder(runner)
    const { turnId, conversation } = await runner.run({ message: 'go' })
    expect(new Set(recorder.events.map(({ origin }) => origin.turnId))).toEqual(new Set([turnId]))
    expect(recorder.of('toolProgress')).toEqual([{ toolCallId: 'c', tool: 'look', update: 1 }])
    for await (const entry of store.entries(conversation)) expect(entry.turnId).toBe(turnId)
  })

  it('runs identical parallel calls both and tells them apart everywhere', async () => {
    const keys: string[] = []
    const look = sampleTool('look', (_, ctx) => {
      keys.push(`${ctx.toolCallId} ${ctx.idempotencyKey}`)
      return `seen by ${ctx.toolCallId}`
    })
    const call = { call: 'look', args: { q: 'same' }, id: 'call_0' }
    const model = scriptedModel([[call, call], [call], [{ text: 'x' }]])
    const runner = new TurnRunner({ model, tools: [look] })
    const recorder = eventRecorder(runner)
    const { toolCalls, conversation } = await runner.run({ message: 'go', conversation: 'k' })
    expect(toolCalls.map(({ id }) => id)).toEqual(['call_0', 'call_0~2', 'call_0~3'])
    expect(new Set(toolCalls.map(({ checksum }) => checksum)).size).toBe(1)
    expect(keys).toEqual(
      ['call_0', 'call_0~2', 'call_0~3'].map((id) => `${id} ${conversation}/${id}`),
    )
    const starts = recorder.of('toolExecutionStart')
    expect(new Set(starts.map(({ callId }) => callId)).size).toBe(1)
    expect(starts.map(({ toolCallId }) => toolCallId)).toEqual(['call_0', 'call_0~2', 'call_0~3'])
    const shown = model.requests[2]?.items.filter(({ type }) => type === 'call') ?? []
    expect(shown.map(resultText).map((text) => text?.match(/seen by \S+/)?.[0])).toEqual([
      'seen by call_0',
      'seen by call_0~2',
      'seen by call_0~3',
    ])
    expect(shown.map((item) => (item as { wire: { callId?: string } }).wire.callId)).toEqual([
      'call_0',
      'call_0',
      'call_0',
    ])
  })

  it('gives results back in the order asked, whenever they come', async () => {
    const gates = [byHand(), byHand(), byHand()]
    const wait = sampleTool('wait', async ({ q }) => {
      await gates[Number(q)]?.promise
      gates[Number(q) - 1]?.resolve()
      return `result ${q}`
    })
    const calls = ['0', '1', '2'].map((q) => ({ call: 'wait', args: { q }, id: `c${q}` }))
    const model = scriptedModel([calls, [{ text: 'x' }]])
    const runner = new TurnRunner({ model, tools: [wait] })
    const recorder = eventRecorder(runner)
    const running = runner.run({ message: 'go' })
    gates[2]?.resolve()
    const { toolCalls } = await running
    const done = recorder.of('toolCall').filter(({ isComplete }) => isComplete)
    expect(done.map(({ id }) => id)).toEqual(['c2', 'c1', 'c0'])
    expect(toolCalls.map(({ id }) => id)).toEqual(['c0', 'c1', 'c2'])
    const shown = model.requests[1]?.items.filter(({ type }) => type === 'call') ?? []
    expect(shown.map((item) => (item as { id: string }).id)).toEqual(['c0', 'c1', 'c2'])
  })

  it('goes on with a conversation, and keeps ids unique across its turns', async () => {
    const store = memoryStore()
    const look = sampleTool('look', () => 'seen')
    const turn = async () => {
      const model = scriptedModel([[{ call: 'look', id: 'call_0' }], [{ text: 'ok' }]])
      const runner = new TurnRunner({ model, tools: [look], store })
      const outcome = await runner.run({ message: 'again', conversation: 'c' })
      return { outcome, model }
    }
    await turn()
    const { outcome, model } = await turn()
    expect(outcome.toolCalls.map(({ id }) => id)).toEqual(['call_0~2'])
    expect(model.requests[0]?.items.map(({ type }) => type)).toEqual([
      'message',
      'call',
      'message',
      'message',
    ])
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  })

  it.each([
    ['an empty message', { message: '' }],
    ['a message that is no text', { message: 5 as unknown as string }],
    ['attachments that are no media', { message: 'x', attachments: [{}] as never[] }],
    ['an empty conversation', { message: 'x', conversation: '' }],
    ['a signal that is none', { message: 'x', conversation: 'c', signal: {} as AbortSignal }],
  ])('refuses %s before anything is touched', async (_, input) => {
    const store = memoryStore()
    const runner = new TurnRunner({ executor: async () => ({ answer: 'x' }), store })
    await expect(runner.run(input)).rejects.toMatchObject({ code: 'E_INVALID_TURN_INPUT' })
    const { outcome } = runner.stream(input)
    await expect(outcome).rejects.toMatchObject({ code: 'E_INVALID_TURN_INPUT' })
    expect(await store.conversations()).toEqual([])
  })

  it.each([
    ['without decisions', { conversation: 'c' }],
    ['with one that is no list', { conversation: 'c', decisions: { gate: 'g', approve: true } }],
    ['without a conversation', { decisions: [] }],
    ['with a signal that is none', { conversation: 'c', decisions: [], signal: 5 }],
  ])('refuses to resume %s, and holds nothing', async (_, input) => {
    const store = memoryStore()
    const runner = new TurnRunner({ executor: async () => ({ answer: 'x' }), store })
    await runner.run({ message: 'go', conversation: 'c' })
    const refusal = { code: 'E_INVALID_TURN_INPUT' }
    await expect(runner.resume(input as never)).rejects.toMatchObject(refusal)
    if ('signal' in input) {
      await expect(runner.recover(input as never)).rejects.toMatchObject(refusal)
    }
    expect((await store.conversation('c'))?.holder).toBeUndefined()
  })

  it.each([
    ['no model', {} as never],
    ['a concurrency of 0', { executor: async () => ({ answer: '' }), concurrency: 0 }],
    [
      'a timeout that is no number',
      { executor: async () => ({ answer: '' }), timeoutMs: Number.NaN },
    ],
    [
      'a short secret',
      { executor: async () => ({ answer: '' }), conversationSecret: new Uint8Array(8) },
    ],
  ])('refuses options with %s', (_, options) => {
    expect(() => new TurnRunner(options)).toThrow(/TurnRunner/)
  })

  it('passes secrets to handlers and keeps them out of arguments and records', async () => {
    const store = memoryStore()
    const seen: string[] = []
    const login = sampleTool('login', async (_, ctx) => {
      seen.push(await ctx.secret('token'))
      return 'ok'
    })
    const model = scriptedModel([[{ call: 'login' }], [{ text: 'x' }]])
    const secrets = (name: string) => `hush-${name}`
    const runner = new TurnRunner({ model, tools: [login], store, secrets })
    const { conversation } = await runner.run({ message: 'go' })
    expect(seen).toEqual(['hush-token'])
    for await (const line of store.export(conversation)) expect(line).not.toContain('hush')
  })
})
