import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base'
import { beforeAll, describe, expect, it } from 'vitest'
import { meters, propagateContext, traced } from '../../test/otel/traced.ts'
import { sampleTool } from '../../test/turn-samples.ts'
import { BobbinError } from '../core/error/error.ts'
import type { Model } from '../model/model.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { METRIC, providerName } from './conventions.ts'
import { telemetry } from './telemetry.ts'

beforeAll(propagateContext)

const look = () => sampleTool('look', () => 'seen')
const asks = { call: 'look', id: 'c1', args: {} }
const usage = { inputTokens: 10, outputTokens: 5 }
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const TURN = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
const SERVED = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
const COUNTS = [0, 1, 2, 4, 8, 16, 32, 64, 128]

describe('the metrics', () => {
  it('have the units and buckets of the conventions', () => {
    const all = Object.values(METRIC).map((each) => [
      each.name,
      each.unit,
      'buckets' in each ? each.buckets : 'counter',
    ])
    const tokens = (name: string) => [`gen_ai.client.inference.usage.${name}`, '{token}', 'counter']
    expect(all).toEqual([
      ['gen_ai.client.inference.duration', 's', SECONDS],
      ['gen_ai.client.inference.time_to_first_chunk', 's', SECONDS],
      ['gen_ai.invoke_agent.duration', 's', TURN],
      ['gen_ai.execute_tool.duration', 's', SECONDS],
      ['mcp.server.operation.duration', 's', SERVED],
      ['gen_ai.invoke_agent.inference_calls', '{inference_call}', COUNTS],
      ['gen_ai.invoke_agent.tool_calls', '{tool_call}', COUNTS],
      tokens('input_tokens'),
      tokens('output_tokens'),
      tokens('cache_read.input_tokens'),
      tokens('cache_write.input_tokens'),
      tokens('reasoning.output_tokens'),
    ])
  })

  it('reach the SDK with their units, buckets and attributes', async () => {
    const sdk = traced()
    const model = scriptedModel([
      [asks],
      { parts: [{ text: 'so' }], usage: { ...usage, cachedInputTokens: 0, reasoningTokens: 2 } },
    ])
    const given = { ...model, provider: 'aws-bedrock' }
    await new TurnRunner({ model: given, tools: [look()], telemetry: sdk.telemetry }).run({
      message: 'go',
    })
    const told = (await sdk.measured()).map(({ descriptor: { name, unit }, dataPoints }) => {
      const [{ attributes, value } = { attributes: {}, value: 0 }] = dataPoints
      return [
        name,
        unit,
        dataPoints.length,
        attributes,
        typeof value === 'number'
          ? value
          : (value as { buckets: { boundaries: number[] } }).buckets.boundaries,
      ]
    })
    const chat = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'aws.bedrock',
      'gen_ai.request.model': 'scripted',
    }
    const tokens = { ...chat, 'gen_ai.token.modality': 'unknown' }
    const counter = (name: string, value: number) => [
      `gen_ai.client.inference.usage.${name}`,
      '{token}',
      1,
      tokens,
      value,
    ]
    expect(told).toEqual([
      ['gen_ai.client.inference.duration', 's', 1, chat, SECONDS],
      ['gen_ai.client.inference.time_to_first_chunk', 's', 1, chat, SECONDS],
      ['gen_ai.invoke_agent.duration', 's', 1, {}, TURN],
      [
        'gen_ai.execute_tool.duration',
        's',
        1,
        { 'gen_ai.tool.name': 'look', 'gen_ai.tool.type': 'function' },
        SECONDS,
      ],
      ['gen_ai.invoke_agent.inference_calls', '{inference_call}', 1, {}, COUNTS],
      ['gen_ai.invoke_agent.tool_calls', '{tool_call}', 1, {}, COUNTS],
      counter('input_tokens', 10),
      counter('output_tokens', 5),
      counter('cache_read.input_tokens', 0),
      counter('reasoning.output_tokens', 2),
    ])
  })

  it('have the kind of an error', async () => {
    const sdk = traced()
    const fail = sampleTool('fail', () => {
      throw new Error('x')
    })
    const broken = new BobbinError('E_PROVIDER_AUTH', 'x', { isRetryable: false } as never)
    const model = scriptedModel([[{ call: 'fail', id: 'c1' }], { error: broken }])
    await new TurnRunner({ model, tools: [fail], telemetry: sdk.telemetry }).run({ message: 'go' })
    const types = async (metric: string) =>
      (await sdk.points(metric)).map(
        ({ attributes }) => (attributes as Record<string, unknown>)['error.type'],
      )
    expect([
      await types('gen_ai.execute_tool.duration'),
      await types('gen_ai.client.inference.duration'),
      await types('gen_ai.invoke_agent.duration'),
    ]).toEqual([['failed'], [undefined, 'E_PROVIDER_AUTH'], ['E_PROVIDER_AUTH']])
  })

  it('are there with a meter and no tracer', async () => {
    const { provider, counts } = meters()
    const given = telemetry({ meter: provider.getMeter('test') })
    const model = scriptedModel([[asks], { parts: [{ text: 'so' }], usage }])
    await new TurnRunner({ model, tools: [look()], telemetry: given }).run({ message: 'go' })
    expect(await counts()).toMatchObject({
      'gen_ai.client.inference.duration': 2,
      'gen_ai.execute_tool.duration': 1,
      'gen_ai.invoke_agent.duration': 1,
      'gen_ai.client.inference.usage.input_tokens': 10,
    })
  })
})

describe('providers', () => {
  it('have the names of the conventions', () => {
    const names = ['aws-bedrock', 'azure-foundry', 'google', 'anthropic', 'openai', 'mine']
    expect(names.map(providerName)).toEqual([
      'aws.bedrock',
      'azure.ai.openai',
      'gcp.gen_ai',
      'anthropic',
      'openai',
      'mine',
    ])
  })
})

describe('a request', () => {
  const whole = (more: object = {}): Model => ({
    ...scriptedModel([]),
    ...more,
    async *stream() {
      const parts = [{ type: 'text', text: 'so' }] as const
      const items = [{ type: 'message', role: 'assistant', parts } as const]
      yield { type: 'finish', reason: 'stop', items, unfinished: [] }
    },
  })

  it.each([
    ['a stream', scriptedModel([[{ text: 'so' }]]), true],
    ['a stream of one event', whole({ streams: true }), true],
    ['no stream', whole(), undefined],
  ])('says whether it asked for a stream: %s', async (_, model, streams) => {
    const sdk = traced()
    await new TurnRunner({ model, telemetry: sdk.telemetry }).run({ message: 'go' })
    const { attributes, kind } = sdk.span('chat scripted')
    const first = await sdk.points('gen_ai.client.inference.time_to_first_chunk')
    expect([
      kind,
      attributes['gen_ai.request.stream'],
      'gen_ai.response.time_to_first_chunk' in attributes,
      first.length,
    ]).toEqual([2, streams, streams === true, streams ? 1 : 0])
  })
})

describe('a turn that is not sampled', () => {
  it('does not look at the results of its calls', async () => {
    const sdk = traced({ sampler: new AlwaysOffSampler(), content: true })
    const begin = { conversation: 'c', turnId: 't', way: 'run', isNested: false } as const
    const turn = await sdk.telemetry.turn(begin)
    const read: string[] = []
    const record = new Proxy({} as ToolCall, {
      get: (_target, name) => void read.push(String(name)),
    })
    const call = { id: 'c1', tool: 'look', description: '', checksum: '', args: {} }
    turn?.toolCall(call, (value) => value).settled(record)
    expect(read).toEqual(['settlement', 'isError'])
  })

  it('is measured, and computes no attributes and no contents', async () => {
    const sdk = traced({ sampler: new AlwaysOffSampler(), content: true })
    const set: unknown[] = []
    const startSpan = (...given: Parameters<typeof sdk.tracer.startSpan>) => {
      const span = sdk.tracer.startSpan(...given)
      span.setAttributes = (attributes) => {
        set.push(attributes)
        return span
      }
      return span
    }
    const { provider, counts } = meters()
    const given = telemetry({
      content: true,
      tracer: { ...sdk.tracer, startSpan },
      meter: provider.getMeter('test'),
    })
    const model = scriptedModel([[asks], { parts: [{ text: 'so' }], usage }])
    await new TurnRunner({ model, tools: [look()], telemetry: given }).run({ message: 'go' })
    expect(set).toEqual([])
    expect(await counts()).toMatchObject({ 'gen_ai.execute_tool.duration': 1 })
    expect(sdk.spans()).toEqual([])
  })
})
