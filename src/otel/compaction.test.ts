import { beforeAll, describe, expect, it } from 'vitest'
import { propagateContext, traced } from '../../test/otel/traced.ts'
import { BobbinError } from '../core/error/error.ts'
import { fallbackModel } from '../model/fallback-model.ts'
import type { Model } from '../model/model.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { modelSummary } from '../turn/compact/model-summary.ts'
import { TurnRunner } from '../turn/turn-runner.ts'

beforeAll(propagateContext)

const usage = { inputTokens: 10, outputTokens: 5 }
const quick = { sleep: async () => {} }
const overloaded = () =>
  new BobbinError('E_PROVIDER_UNAVAILABLE', 'x', { isRetryable: true } as never)

describe('compaction', () => {
  const long = { parts: [{ text: 'lorem ipsum dolor '.repeat(200) }], usage }

  /** A conversation that needs a summary, which a model writes. */
  async function compacted(summariser: Model) {
    const sdk = traced()
    const runner = new TurnRunner({
      store: memoryStore(),
      model: scriptedModel([long, long, long]),
      telemetry: sdk.telemetry,
      testing: quick,
      compact: { at: 1_200, keepTurns: 1, summarise: modelSummary(summariser) },
    })
    for (let turn = 0; turn < 3; turn++) {
      await runner.run({ conversation: 'c', message: `go ${turn}` })
    }
    return sdk
  }

  it('has a span and metrics for each request for a summary', async () => {
    const steps = scriptedModel([
      { error: overloaded() },
      { parts: [{ text: 'short' }], usage: { inputTokens: 100, outputTokens: 7 } },
    ])
    const sdk = await compacted({ ...steps, model: 'summariser' })
    expect(sdk.tree()).toEqual({
      invoke_agent: { 'chat scripted': {} },
      'invoke_agent (2)': { 'chat scripted': {} },
      'invoke_agent (3)': {
        'chat summariser': {},
        'chat summariser (2)': {},
        'chat scripted': {},
      },
    })
    const [failed, written] = sdk.spans().filter(({ name }) => name === 'chat summariser')
    expect(failed?.attributes['error.type']).toBe('E_PROVIDER_UNAVAILABLE')
    expect(written?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'bobbin',
      'gen_ai.request.model': 'summariser',
      'gen_ai.request.stream': true,
      'gen_ai.conversation.id': 'c',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.time_to_first_chunk': expect.any(Number) as number,
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 7,
      'bobbin.model_call.purpose': 'summary',
      'bobbin.model_call.attempt': 2,
    })
    const [, tokens] = await sdk.points('gen_ai.client.inference.usage.output_tokens')
    expect(tokens).toMatchObject({ attributes: { 'gen_ai.request.model': 'summariser' }, value: 7 })
    expect(await sdk.points('gen_ai.invoke_agent.inference_calls')).toEqual([
      { attributes: {}, value: 5 },
    ])
  })

  it('has one for each model that is asked for a summary', async () => {
    const first = { ...scriptedModel([{ error: overloaded() }]), model: 'first' }
    const second = { ...scriptedModel([[{ text: 'short' }]]), model: 'second' }
    const sdk = await compacted(fallbackModel([first, second]))
    expect(sdk.tree()).toMatchObject({
      'invoke_agent (3)': { 'chat first': {}, 'chat second': {}, 'chat scripted': {} },
    })
  })
})
