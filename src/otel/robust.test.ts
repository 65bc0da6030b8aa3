import { metrics, type Span, type Tracer } from '@opentelemetry/api'
import { beforeAll, describe, expect, it } from 'vitest'
import { meters, propagateContext, traced } from '../../test/otel/traced.ts'
import { byHand, sampleTool } from '../../test/turn-samples.ts'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { Model } from '../model/model.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { modelExecutor } from '../turn/executor/model-executor.ts'
import type { TurnRunnerOptions } from '../turn/options/runner-options.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { telemetry } from './telemetry.ts'

beforeAll(propagateContext)

const look = () => sampleTool('look', () => 'seen')
const calling = () => scriptedModel([[{ call: 'look', id: 'c1', args: {} }], [{ text: 'so' }]])
const run = (options: TurnRunnerOptions) =>
  new TurnRunner(options).run({ conversation: 'c', message: 'go' })
const turned = (options: Pick<Partial<TurnRunnerOptions>, 'telemetry' | 'middleware'>) =>
  run({ model: calling(), tools: [look()], ...options })

/** A tracer whose spans are changed. */
const tracerOf = (change: (span: Span) => unknown): Tracer => {
  const { tracer } = traced()
  return {
    ...tracer,
    startSpan: (...given) => change(tracer.startSpan(...given)) as Span,
  }
}

describe('telemetry that goes wrong', () => {
  it.each([
    ['is not there', () => undefined],
    ['has no methods', () => ({})],
    ['has no `spanContext`', (span: Span) => ({ ...span, spanContext: undefined })],
    [
      'throws when it is asked where it is',
      () => ({
        spanContext() {
          throw new Error('There is no place.')
        },
      }),
    ],
    ['gives no place', () => ({ spanContext: () => undefined })],
    ['gives half a place', () => ({ spanContext: () => ({ traceId: 'a'.repeat(32), spanId: 7 }) })],
    [
      'gives a place without flags',
      (span: Span) => ({ spanContext: () => ({ ...span.spanContext(), traceFlags: undefined }) }),
    ],
  ])('does not end a turn when a span %s', async (_, change) => {
    const given = telemetry({ tracer: tracerOf(change), content: true })
    const { status, toolCalls } = await turned({ telemetry: given })
    expect([status, toolCalls[0]?.settlement]).toEqual(['completed', 'ok'])
  })

  it.each([
    { status: 'completed', text: 'cached' },
    { status: 'failed' },
    { status: 'stopped', reason: {} },
    { status: 'suspended', gates: 7, usage: null },
  ])('takes the outcome %j of a middleware layer', async (made) => {
    const sdk = traced({ content: true })
    const turn = async () => made as never
    const { status } = await turned({ telemetry: sdk.telemetry, middleware: [{ turn }] })
    expect(status).toBe(made.status)
    expect(sdk.span('invoke_agent').attributes['bobbin.turn.status']).toBe(made.status)
  })
})

describe('contents of results', () => {
  /** Runs a turn whose result cannot be read again before `until`. */
  async function withSlowResults(until: Promise<string>) {
    const sdk = traced({ content: true })
    const store = memoryStore()
    let asked = 0
    class Slow extends SpooledArtifact {
      static override readonly kind: string = 'slow'
      override asString(): Promise<string> {
        // The span asks first; the request to the model asks later.
        return asked++ === 0 ? until : super.asString()
      }
    }
    const slow = sampleTool('look', () => 'y'.repeat(20_000), {
      effect: 'write',
      artifactConstructor: () => Slow,
    })
    const options = { store, tools: [slow], model: calling(), policy: 'open' } as const
    const outcome = await run({ ...options, artifacts: [Slow], telemetry: sdk.telemetry })
    return { sdk, outcome }
  }

  it('are read after the record: a turn does not wait for them', async () => {
    const { promise, resolve } = byHand<string>()
    const { sdk, outcome } = await withSlowResults(promise)
    expect([outcome.status, outcome.toolCalls[0]?.settlement]).toEqual(['completed', 'ok'])
    expect(sdk.spans().map(({ name }) => name)).not.toContain('execute_tool look')
    expect(await sdk.metrics()).toMatchObject({ 'gen_ai.execute_tool.duration': 1 })
    await new Promise((go) => setTimeout(go, 60))
    resolve('seen at last')
    await promise
    await new Promise((go) => setTimeout(go, 0))
    const span = sdk.span('execute_tool look')
    expect(span.attributes).toMatchObject({
      'bobbin.call.settlement': 'ok',
      'gen_ai.tool.call.result': 'seen at last',
    })
    // The span lasts as long as the call, and not until its result was read.
    const [seconds, nanoseconds] = span.duration
    expect(seconds + nanoseconds / 1e9).toBeLessThan(0.05)
  })

  it('that cannot be read leave the span without them', async () => {
    const failed = Promise.reject(new Error('The spool is away.'))
    const { sdk, outcome } = await withSlowResults(failed)
    expect(outcome.status).toBe('completed')
    const { attributes } = sdk.span('execute_tool look')
    expect(attributes['bobbin.call.settlement']).toBe('ok')
  })
})

describe('requests that are not waited for', () => {
  const silent = (): Model => ({
    ...scriptedModel([]),
    model: 'silent',
    async *stream() {
      await new Promise(() => {})
      yield { type: 'text', key: '0', delta: '' }
    },
  })

  it('end with the step', async () => {
    const sdk = traced()
    const [slow, quick] = [modelExecutor(silent()), modelExecutor(calling())]
    const seen: string[][] = []
    const tool = sampleTool('look', () => {
      seen.push(sdk.spans().map(({ name }) => name))
      return 'seen'
    })
    const { status } = await run({
      tools: [tool],
      executor: (ctx, helpers) => Promise.race([slow(ctx, helpers), quick(ctx, helpers)]),
      telemetry: sdk.telemetry,
    })
    expect([status, seen]).toEqual(['completed', [['chat silent', 'chat scripted']]])
    const left = sdk.span('chat silent')
    expect([left.status.code, left.attributes['gen_ai.response.finish_reasons']]).toEqual([
      0,
      undefined,
    ])
  })

  it('end with the turn, if they begin after the last step', async () => {
    const sdk = traced()
    const name = { api: 'a', provider: 'p', model: 'late' }
    const { status } = await run({
      executor: async (_, { roundTrip }) => {
        setTimeout(() => roundTrip?.(name), 5)
        return { answer: 'so' }
      },
      middleware: [
        {
          async turn(_, next) {
            const outcome = await next()
            await new Promise((go) => setTimeout(go, 20))
            return outcome
          },
        },
      ],
      telemetry: sdk.telemetry,
    })
    expect([status, sdk.tree()]).toEqual(['completed', { invoke_agent: { 'chat late': {} } }])
  })
})

describe('a meter that is registered after the first turn', () => {
  it('measures from then on', async () => {
    const { provider, counts } = meters()
    const given = telemetry({ tracer: traced().tracer })
    await turned({ telemetry: given })
    metrics.setGlobalMeterProvider(provider)
    try {
      await turned({ telemetry: given })
    } finally {
      metrics.disable()
    }
    expect(await counts()).toMatchObject({ 'gen_ai.invoke_agent.duration': 1 })
  })
})

describe('without an SDK', () => {
  it('neither turns nor served calls are traced', async () => {
    const given = telemetry()
    const begin = { conversation: 'c', turnId: 't', way: 'run', isNested: false } as const
    expect([await given.turn(begin), await given.served?.({ requestId: '1' })]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('a served call still passes on where its client is', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const turn = await telemetry().served?.({ traceparent })
    const call = { id: 'c1', tool: 'look', description: '', checksum: '', args: {} }
    expect(turn?.toolCall(call, (value) => value).place).toEqual({ traceparent })
  })

  it('turns and served calls are measured if there is a meter', async () => {
    const { provider, counts } = meters()
    const given = telemetry()
    await turned({ telemetry: given })
    metrics.setGlobalMeterProvider(provider)
    try {
      // The provider came after the first turn.
      await turned({ telemetry: given })
      expect(await given.served?.({})).toBeDefined()
    } finally {
      metrics.disable()
    }
    expect(await counts()).toMatchObject({
      'gen_ai.invoke_agent.duration': 1,
      'gen_ai.execute_tool.duration': 1,
    })
  })
})
