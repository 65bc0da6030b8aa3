import { context, trace } from '@opentelemetry/api'
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { diesBehind } from '../../test/mortal-store.ts'
import { propagateContext, traced } from '../../test/otel/traced.ts'
import { byHand, sampleTool } from '../../test/turn-samples.ts'
import { BobbinError } from '../core/error/error.ts'
import { fallbackModel } from '../model/fallback-model.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { inputRequired } from '../tools/person-request.ts'
import { subAgent } from '../turn/nested/sub-agent.ts'
import { TurnRunner } from '../turn/turn-runner.ts'

beforeAll(propagateContext)

const look = (name = 'look', handler = () => 'seen') => sampleTool(name, handler)
const asks = (...tools: readonly string[]) =>
  tools.map((call, at) => ({ call, id: `c${at + 1}`, args: { q: 'x' } }))
const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, cacheWriteTokens: 3 }
type Steps = Parameters<typeof scriptedModel>[0]
const quick = { sleep: async () => {} }
const overloaded = () =>
  new BobbinError('E_PROVIDER_UNAVAILABLE', 'CANARY-provider', { isRetryable: true } as never)

describe('the span tree of a turn', () => {
  it('has model calls and calls side by side inside the turn', async () => {
    const sdk = traced()
    const model = scriptedModel([asks('look', 'look'), [{ text: 'so' }]])
    const runner = new TurnRunner({ tools: [look()], model, telemetry: sdk.telemetry })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(sdk.tree()).toEqual({
      invoke_agent: {
        'chat scripted': {},
        'execute_tool look': {},
        'execute_tool look (2)': {},
        'chat scripted (2)': {},
      },
    })
  })

  it('names records and results by their digests', async () => {
    const sdk = traced()
    const model = scriptedModel([asks('look'), { parts: [{ text: 'so' }], usage }])
    const runner = new TurnRunner({ tools: [look()], model, telemetry: sdk.telemetry })
    const { toolCalls, turnId } = await runner.run({ conversation: 'c', message: 'go' })
    const [record] = toolCalls
    expect(sdk.span('execute_tool look').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.conversation.id': 'c',
      'gen_ai.tool.name': 'look',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'c1',
      'bobbin.call.checksum': record?.checksum,
      'bobbin.call.digest': record?.digest,
      'bobbin.call.settlement': 'ok',
      'bobbin.artifact.digest': [(record?.results as { digest?: string } | undefined)?.digest],
    })
    expect(sdk.span('invoke_agent').attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 'c',
      'bobbin.turn.id': turnId,
      'bobbin.turn.input': 'run',
      'bobbin.turn.status': 'completed',
      'gen_ai.usage.input_tokens': 10,
    })
    expect(sdk.spans().filter(({ name }) => name === 'chat scripted')[1]?.attributes).toMatchObject(
      {
        'gen_ai.provider.name': 'bobbin',
        'gen_ai.request.model': 'scripted',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.cache_read.input_tokens': 4,
        'gen_ai.usage.cache_write.input_tokens': 3,
      },
    )
  })

  it('has the turn of a sub-agent inside the call', async () => {
    const sdk = traced()
    const agent = {
      tools: [look('inner')],
      model: scriptedModel([asks('inner'), [{ text: 'found' }]]),
    }
    const tools = [subAgent({ name: 'helper', description: 'Helps.', agent }), look()]
    const model = scriptedModel([
      [{ call: 'helper', id: 'h1', args: { task: 'x' } }, ...asks('look')],
      [{ text: 'so' }],
    ])
    const runner = new TurnRunner({ tools, model, telemetry: sdk.telemetry })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(sdk.tree()).toEqual({
      invoke_agent: {
        'chat scripted': {},
        'execute_tool helper': {
          'invoke_agent helper': {
            'chat scripted': {},
            'execute_tool inner': {},
            'chat scripted (2)': {},
          },
        },
        'execute_tool look': {},
        'chat scripted (2)': {},
      },
    })
  })

  it('has each attempt at a model call, and each model of a fallback', async () => {
    const sdk = traced()
    const first = scriptedModel([{ error: overloaded() }, { error: overloaded() }])
    const second = { ...scriptedModel([{ error: overloaded() }, [{ text: 'so' }]]), model: 'other' }
    const model = fallbackModel([first, second])
    const runner = new TurnRunner({ model, testing: quick, telemetry: sdk.telemetry })
    const { status } = await runner.run({ conversation: 'c', message: 'go' })
    expect(status).toBe('completed')
    expect(sdk.tree()).toEqual({
      invoke_agent: {
        'chat scripted': {},
        'chat other': {},
        'chat scripted (2)': {},
        'chat other (2)': {},
      },
    })
    const failures = sdk.spans().map(({ attributes }) => attributes['error.type'])
    const code = 'E_PROVIDER_UNAVAILABLE'
    expect(failures).toEqual([undefined, code, code, code, undefined])
  })

  it('has what handlers and clients of models trace inside their spans', async () => {
    const sdk = traced()
    const own = (name: string) => {
      sdk.tracer.startSpan(name).end()
      return 'seen'
    }
    const steps = scriptedModel([asks('look'), { check: () => void own('http'), parts: [] }])
    const tools = [sampleTool('look', () => own('query'))]
    const runner = new TurnRunner({ tools, model: steps, telemetry: sdk.telemetry })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(sdk.tree()).toEqual({
      invoke_agent: {
        'chat scripted': {},
        'execute_tool look': { query: {} },
        'chat scripted (2)': { http: {} },
      },
    })
  })

  it('has no spans of a client that traces its requests by itself', async () => {
    const sdk = traced()
    const check = () => sdk.tracer.startSpan('anthropic.messages.create').end()
    const steps = scriptedModel([{ check, parts: [{ text: 'so' }] }])
    const model = { ...steps, traces: true }
    const runner = new TurnRunner({ model, telemetry: sdk.telemetry })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(sdk.tree()).toEqual({ invoke_agent: { 'chat scripted': {} } })
  })

  it('is inside the span that is active where the turn starts', async () => {
    const sdk = traced()
    const runner = new TurnRunner({
      model: scriptedModel([[{ text: 'so' }]]),
      telemetry: sdk.telemetry,
    })
    const request = sdk.tracer.startSpan('GET /')
    await context.with(trace.setSpan(context.active(), request), () =>
      runner.run({ conversation: 'c', message: 'go' }),
    )
    request.end()
    expect(sdk.tree()).toEqual({ 'GET /': { invoke_agent: { 'chat scripted': {} } } })
  })
})

describe('a turn that continues another', () => {
  const pay = () =>
    sampleTool('pay', () => 'paid', { effect: 'write', approval: true, trust: 'first-party' })

  it('links to the turn that waited', async () => {
    const sdk = traced()
    const store = memoryStore()
    const options = { tools: [pay()], store, telemetry: sdk.telemetry }
    const first = new TurnRunner({ ...options, model: scriptedModel([asks('pay')]) })
    const { gates } = await first.run({ conversation: 'c', message: 'go' })
    const [waiting] = sdk.spans()
    expect(waiting?.attributes['bobbin.turn.status']).toBe('suspended')
    expect(waiting?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        'bobbin.gate',
        {
          'bobbin.gate.id': gates[0]?.id,
          'bobbin.gate.kind': 'approval',
          'gen_ai.tool.name': 'pay',
        },
      ],
    ])
    const second = new TurnRunner({ ...options, model: scriptedModel([[{ text: 'so' }]]) })
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    await second.resume({ conversation: 'c', decisions })
    expect(sdk.tree()).toEqual({
      invoke_agent: { 'chat scripted': {} },
      'invoke_agent (2)': { 'execute_tool pay': {}, 'chat scripted': {} },
    })
    const resumed = sdk
      .spans()
      .find(({ attributes }) => attributes['bobbin.turn.input'] === 'resume')
    const { traceId, spanId } = waiting?.spanContext() ?? {}
    expect(resumed?.links.map((link) => link.context)).toEqual([
      { traceId, spanId, traceFlags: 1, isRemote: true },
    ])
  })

  it('links to the turn whose process died', async () => {
    const sdk = traced()
    const store = memoryStore()
    const { mortal, died } = diesBehind(store, ({ kind }) => kind === 'history-item')
    const dead = traced()
    const first = new TurnRunner({
      tools: [look()],
      store: mortal,
      model: scriptedModel([asks('look')]),
      telemetry: dead.telemetry,
    })
    void first.run({ conversation: 'c', message: 'go' })
    await died
    const model = scriptedModel([[{ text: 'so' }]])
    const second = new TurnRunner({ tools: [look()], store, model, telemetry: sdk.telemetry })
    await second.recover({ conversation: 'c', force: true })
    expect(sdk.tree()).toEqual({ invoke_agent: { 'execute_tool look': {}, 'chat scripted': {} } })
    const traceIds = sdk.span('invoke_agent').links.map((link) => link.context.traceId)
    expect(traceIds).toEqual([dead.spans()[0]?.spanContext().traceId])
  })

  it.each(['nonsense', '00-0-0-01', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`, 7])(
    'does not believe %j in a log',
    async (stored) => {
      const sdk = traced()
      const begin = { conversation: 'c', turnId: 't', way: 'resume', isNested: false } as const
      const turn = await sdk.telemetry.turn(begin)
      turn?.continues(stored as string)
      turn?.failed(new Error('over'))
      expect(sdk.span('invoke_agent').links).toEqual([])
    },
  )
})

describe('a call that does not settle at once', () => {
  const write = { effect: 'write', trust: 'first-party' } as const

  it('ends its span when it asks a person, and has another one when it is answered', async () => {
    const sdk = traced()
    const schema = z.object({ sure: z.boolean() })
    const ask = sampleTool('ask', (_args, { input }) =>
      input ? 'thanks' : inputRequired({ message: 'CANARY Sure?', schema }),
    )
    const store = memoryStore()
    const options = { tools: [ask], store, telemetry: sdk.telemetry }
    const first = new TurnRunner({ ...options, model: scriptedModel([asks('ask')]) })
    const { gates } = await first.run({ conversation: 'c', message: 'go' })
    expect(sdk.span('execute_tool ask').attributes['bobbin.call.settlement']).toBe('waiting')
    expect(await sdk.metrics()).toMatchObject({ 'gen_ai.execute_tool.duration': 1 })
    const second = new TurnRunner({ ...options, model: scriptedModel([[{ text: 'so' }]]) })
    const decisions = [{ gate: gates[0]?.id ?? '', value: { sure: true }, decidedBy: 'ann' }]
    await second.resume({ conversation: 'c', decisions })
    expect(sdk.tree()).toEqual({
      invoke_agent: { 'chat scripted': {}, 'execute_tool ask': {} },
      'invoke_agent (2)': { 'execute_tool ask': {}, 'chat scripted': {} },
    })
    const ended = sdk.spans().map(({ attributes }) => attributes['bobbin.call.settlement'])
    expect(ended.filter((each) => each !== undefined)).toEqual(['waiting', 'ok'])
  })

  it('ends its span when a gate opens inside its sub-agent', async () => {
    const sdk = traced()
    const store = memoryStore()
    const pay = () => sampleTool('pay', () => 'paid', { ...write, approval: true })
    const turn = (outer: Steps, inner: Steps) => {
      const agent = { model: scriptedModel(inner), tools: [pay()] }
      const tools = [subAgent({ name: 'helper', description: 'Helps.', agent })]
      const model = scriptedModel(outer)
      return new TurnRunner({ store, tools, model, telemetry: sdk.telemetry })
    }
    const call = [{ call: 'helper', id: 'h1', args: { task: 'x' } }]
    const { gates } = await turn([call], [asks('pay')]).run({ conversation: 'c', message: 'go' })
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    const answer = [[{ text: 'so' }]]
    await turn(answer, answer).resume({ conversation: 'c', decisions })
    expect(sdk.tree()).toEqual({
      invoke_agent: {
        'chat scripted': {},
        'execute_tool helper': { 'invoke_agent helper': { 'chat scripted': {} } },
      },
      'invoke_agent (2)': {
        'execute_tool helper': {
          'invoke_agent helper': { 'execute_tool pay': {}, 'chat scripted': {} },
        },
        'chat scripted': {},
      },
    })
    const turns = sdk.spans().filter(({ name }) => name === 'invoke_agent helper')
    expect(
      turns.map(({ attributes, links }) => [attributes['bobbin.turn.status'], links.length]),
    ).toEqual([
      ['suspended', 0],
      ['completed', 1],
    ])
  })

  it('has a span until its end when it runs in the background', async () => {
    const sdk = traced()
    const done = byHand<string>()
    const slow = sampleTool('slow', () => done.promise, { ...write, background: true })
    const model = scriptedModel([
      asks('slow'),
      { parts: [{ text: 'I wait.' }], check: () => void setTimeout(() => done.resolve('late'), 5) },
      [{ text: 'so' }],
    ])
    const runner = new TurnRunner({
      tools: [slow],
      model,
      policy: 'open',
      telemetry: sdk.telemetry,
    })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(sdk.tree()).toEqual({
      invoke_agent: {
        'chat scripted': {},
        'execute_tool slow': {},
        'chat scripted (2)': {},
        'chat scripted (3)': {},
      },
    })
    expect(sdk.span('execute_tool slow').attributes['bobbin.call.settlement']).toBe('ok')
  })

  it('has a span in a turn of its own when it is undone', async () => {
    const sdk = traced()
    const pay = sampleTool('pay', () => 'paid', { ...write, undo: () => 'refunded' })
    const model = scriptedModel([asks('pay'), [{ text: 'so' }]])
    const runner = new TurnRunner({ tools: [pay], model, policy: 'open', telemetry: sdk.telemetry })
    await runner.run({ conversation: 'c', message: 'go' })
    await runner.undo({ conversation: 'c', toolCallId: 'c1', decidedBy: 'ann' })
    expect(sdk.tree()).toMatchObject({
      'invoke_agent (2)': { 'execute_tool undo:pay': {} },
    })
    expect(sdk.spans().at(-2)?.attributes['bobbin.turn.input']).toBe('undo')
  })

  it('has a span when a middleware layer refuses it, and none when the runner does', async () => {
    const sdk = traced()
    const model = scriptedModel([asks('look', 'unknown'), [{ text: 'so' }]])
    const call = () => {
      throw new Error('No.')
    }
    const options = { tools: [look()], model, middleware: [{ call }], telemetry: sdk.telemetry }
    await new TurnRunner(options).run({ conversation: 'c', message: 'go' })
    expect(sdk.tree()).toEqual({
      invoke_agent: { 'chat scripted': {}, 'execute_tool look': {}, 'chat scripted (2)': {} },
    })
    expect(sdk.span('execute_tool look').attributes['bobbin.call.settlement']).toBe('refused')
  })
})

describe('a runner with several agents', () => {
  it('names spans and counts after the agent that is active', async () => {
    const sdk = traced()
    const model = scriptedModel([
      [{ call: 'hand_over', id: 'h1', args: { to: 'desk' } }],
      asks('look', 'look'),
      [{ text: 'so' }],
    ])
    const runner = new TurnRunner({
      model,
      telemetry: sdk.telemetry,
      agents: {
        triage: { description: 'Sorts.', handOverTo: ['desk'] },
        desk: { description: 'Helps.', tools: [look()] },
      },
    })
    const { agent } = await runner.run({ conversation: 'c', message: 'go' })
    expect(agent).toBe('desk')
    expect(
      sdk.spans().map(({ name, attributes }) => [name, attributes['gen_ai.agent.name']]),
    ).toEqual([
      ['invoke_agent triage', 'triage'],
      ['chat scripted', 'triage'],
      ['execute_tool hand_over', 'triage'],
      ['chat scripted', 'desk'],
      ['execute_tool look', 'desk'],
      ['execute_tool look', 'desk'],
      ['chat scripted', 'desk'],
    ])
    const [triage, desk] = [{ 'gen_ai.agent.name': 'triage' }, { 'gen_ai.agent.name': 'desk' }]
    expect([
      await sdk.points('gen_ai.invoke_agent.inference_calls'),
      await sdk.points('gen_ai.invoke_agent.tool_calls'),
      (await sdk.points('gen_ai.invoke_agent.duration')).map(({ attributes }) => attributes),
      (await sdk.points('gen_ai.execute_tool.duration')).map(({ attributes }) => attributes),
    ]).toEqual([
      [
        { attributes: triage, value: 1 },
        { attributes: desk, value: 2 },
      ],
      [
        { attributes: triage, value: 1 },
        { attributes: desk, value: 2 },
      ],
      [triage],
      [
        { 'gen_ai.tool.name': 'hand_over', 'gen_ai.tool.type': 'function', ...triage },
        { 'gen_ai.tool.name': 'look', 'gen_ai.tool.type': 'function', ...desk },
      ],
    ])
  })
})

describe('metrics', () => {
  it('count turns, calls and tokens once, also with a sub-agent', async () => {
    const sdk = traced()
    const agent = { model: scriptedModel([{ parts: [{ text: 'found' }], usage }]) }
    const tools = [subAgent({ name: 'helper', description: 'Helps.', agent })]
    const model = scriptedModel([
      { parts: [{ call: 'helper', id: 'h1', args: { task: 'x' } }], usage },
      { parts: [{ text: 'so' }], usage },
    ])
    const runner = new TurnRunner({ tools, model, telemetry: sdk.telemetry })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(await sdk.metrics()).toEqual({
      'gen_ai.client.inference.duration': 3,
      'gen_ai.client.inference.time_to_first_chunk': 3,
      'gen_ai.client.inference.usage.cache_read.input_tokens': 12,
      'gen_ai.client.inference.usage.cache_write.input_tokens': 9,
      'gen_ai.client.inference.usage.input_tokens': 30,
      'gen_ai.client.inference.usage.output_tokens': 15,
      'gen_ai.execute_tool.duration': 1,
      'gen_ai.invoke_agent.duration': 2,
      'gen_ai.invoke_agent.inference_calls': 2,
      'gen_ai.invoke_agent.tool_calls': 2,
    })
  })
})

describe('sampling', () => {
  it('decides: nothing is exported or stored, and handlers still have the context', async () => {
    const sdk = traced({ sampler: new AlwaysOffSampler() })
    const store = memoryStore()
    let flags: number | undefined
    const handler = () => {
      flags = trace.getActiveSpan()?.spanContext().traceFlags
      return 'seen'
    }
    const runner = new TurnRunner({
      store,
      tools: [sampleTool('look', handler)],
      model: scriptedModel([asks('look'), [{ text: 'so' }]]),
      telemetry: sdk.telemetry,
    })
    await runner.run({ conversation: 'c', message: 'go' })
    expect([sdk.spans(), flags]).toEqual([[], 0])
    for await (const { kind, data } of store.entries('c')) {
      if (kind === 'turn-start') expect(data.trace).toBeUndefined()
    }
  })
})
