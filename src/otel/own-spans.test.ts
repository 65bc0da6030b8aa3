import Anthropic from '@anthropic-ai/sdk'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { beforeAll, describe, expect, it } from 'vitest'
import { propagateContext } from '../../test/otel/traced.ts'
import { samplesOf } from '../../test/wire/provider-samples.ts'
import { anthropicMessages } from '../providers/anthropic/index.ts'
import { loopbackProvider } from '../testing/index.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { telemetry } from './telemetry.ts'

beforeAll(propagateContext)

/** The names of the spans of a turn with the official client, which traces its requests too. */
async function spansOf(traced: boolean): Promise<readonly string[]> {
  const api = 'anthropic-messages'
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  const server = await loopbackProvider({ api, exchanges: [samplesOf(api).model.answer] })
  try {
    const client = new Anthropic({
      apiKey: 'x',
      baseURL: server.url,
      openTelemetry: { tracerProvider },
    })
    const model = anthropicMessages({ client, model: 'claude-x', streaming: false })
    const given = telemetry({ tracer: tracerProvider.getTracer('test') })
    const runner = new TurnRunner({ model, ...(traced && { telemetry: given }) })
    await runner.run({ message: 'go' })
  } finally {
    await server.close()
  }
  return exporter.getFinishedSpans().map(({ name }) => name)
}

describe('a client that makes spans by itself', () => {
  it('makes them where the runner makes none', async () => {
    expect(await spansOf(false)).toEqual(['anthropic.messages.create'])
  })

  it('makes none inside the spans of a runner', async () => {
    expect(await spansOf(true)).toEqual(['chat claude-x', 'invoke_agent'])
  })
})
