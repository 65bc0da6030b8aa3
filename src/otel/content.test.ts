import { metrics, trace } from '@opentelemetry/api'
import { beforeAll, describe, expect, it } from 'vitest'
import { propagateContext, type Traced, traced } from '../../test/otel/traced.ts'
import { sampleTool } from '../../test/turn-samples.ts'
import { BobbinError } from '../core/error/error.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { Telemetry } from '../turn/events/telemetry.ts'
import { subAgent } from '../turn/nested/sub-agent.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { telemetry } from './telemetry.ts'

beforeAll(propagateContext)

const failure = () =>
  new BobbinError('E_PROVIDER_UNAVAILABLE', 'CANARY-provider', { isRetryable: true } as never)

/** A conversation in which every place that can hold a content holds a canary. */
async function everywhere(given: Telemetry): Promise<void> {
  const inner = {
    instructions: 'CANARY-inner-instructions',
    model: scriptedModel([[{ text: 'CANARY-inner-answer' }]]),
  }
  const tools = [
    sampleTool('look', async ({ q }, ctx) => `CANARY-result ${q} ${await ctx.secret?.('key')}`, {
      description: 'CANARY-description',
    }),
    sampleTool('fail', () => {
      throw new Error('CANARY-thrown')
    }),
    sampleTool('pay', () => 'paid', { effect: 'write', approval: true }),
    subAgent({ name: 'helper', description: 'CANARY-agent', agent: inner }),
  ]
  const model = scriptedModel([
    { error: failure() },
    [
      { thought: 'CANARY-thought' },
      { text: 'CANARY-said' },
      { call: 'look', id: 'c1', args: { q: 'CANARY-argument' } },
      { call: 'fail', id: 'c2', args: { q: 'CANARY-argument' } },
      { call: 'CANARY-unknown', id: 'c3', args: {} },
      { call: 'helper', id: 'c4', args: { task: 'CANARY-task' } },
    ],
    [{ call: 'pay', id: 'c5', args: { q: 'CANARY-argument' } }],
    [{ text: 'CANARY-answer' }],
    { error: new Error('CANARY-model') },
  ])
  const runner = new TurnRunner({
    store: memoryStore(),
    instructions: 'CANARY-instructions',
    tools,
    model,
    secrets: () => 'SECRET-of-the-turn',
    testing: { sleep: async () => {} },
    telemetry: given,
  })
  const input = { conversation: 'c', message: 'CANARY-message', context: { who: 'CANARY-context' } }
  const { gates } = await runner.run(input)
  const decisions = [
    { gate: gates[0]?.id ?? '', approve: false, reason: 'CANARY-reason', decidedBy: 'ann' },
  ]
  await runner.resume({ conversation: 'c', decisions })
  const { status } = await runner.run({ conversation: 'c', message: 'CANARY-message' })
  expect(status).toBe('failed')
}

const exported = (sdk: Traced) =>
  JSON.stringify(
    sdk.spans().map(({ name, attributes, events, status, links }) => {
      return { name, attributes, events, status, links: links.length }
    }),
  )

describe('content', () => {
  it('does not leave the process unless it is asked for', async () => {
    const sdk = traced()
    await everywhere(sdk.telemetry)
    expect(sdk.spans().length).toBeGreaterThan(10)
    expect(exported(sdk)).not.toMatch(/CANARY|SECRET/)
    expect(JSON.stringify(await sdk.measured())).not.toMatch(/CANARY|SECRET/)
  })

  it('is in no metric when it is asked for', async () => {
    const sdk = traced({ content: true })
    await everywhere(sdk.telemetry)
    expect(JSON.stringify(await sdk.measured())).not.toMatch(/CANARY|SECRET/)
  })

  it('is in the spans when it is asked for, without secrets', async () => {
    const sdk = traced({ content: true })
    await everywhere(sdk.telemetry)
    const text = exported(sdk)
    for (const place of ['message', 'instructions', 'said', 'argument', 'result', 'description']) {
      expect(text).toContain(`CANARY-${place}`)
    }
    for (const place of ['thrown', 'provider', 'model', 'answer', 'task', 'inner-answer']) {
      expect(text).toContain(`CANARY-${place}`)
    }
    expect(text).toContain('[secret]')
    expect(text).not.toMatch(/SECRET|CANARY-context/)
  })
})

describe('telemetry', () => {
  it('does nothing without an SDK', async () => {
    const store = memoryStore()
    const model = scriptedModel([[{ text: 'so' }]])
    const runner = new TurnRunner({ store, model, telemetry: telemetry() })
    const { status } = await runner.run({ conversation: 'c', message: 'go' })
    expect(status).toBe('completed')
    for await (const { kind, data } of store.entries('c')) {
      if (kind === 'turn-start') expect(data).not.toHaveProperty('trace')
    }
    const begin = { conversation: 'c', turnId: 't', way: 'run', isNested: false } as const
    expect(await telemetry().turn(begin)).toBeUndefined()
  })

  it('does not end a turn when the SDK throws', async () => {
    const broken = () => {
      throw new Error('The exporter is broken.')
    }
    const tracer = { ...trace.getTracer('x'), startSpan: broken, startActiveSpan: broken }
    const meter = Object.assign(metrics.getMeter('x'), {})
    const given = telemetry({
      tracer,
      meter: { ...meter, createHistogram: broken, createCounter: broken } as never,
    })
    const tools = [sampleTool('look', () => 'seen')]
    const model = scriptedModel([[{ call: 'look', id: 'c1' }], [{ text: 'so' }]])
    const runner = new TurnRunner({ tools, model, telemetry: given })
    const { status, toolCalls } = await runner.run({ conversation: 'c', message: 'go' })
    expect([status, toolCalls[0]?.settlement]).toEqual(['completed', 'ok'])
  })
})
