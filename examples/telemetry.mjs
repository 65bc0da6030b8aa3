// A turn as OpenTelemetry spans: model calls, calls, and the turn of a sub-agent inside its call.
import assert from 'node:assert/strict'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { subAgent, Tool, TurnRunner } from 'bobbin-adk'
import { telemetry } from 'bobbin-adk/otel'
import { scriptedModel } from 'bobbin-adk/testing'

// What `new NodeSDK({ … }).start()` of `@opentelemetry/sdk-node` does, with a processor that keeps the spans.
/** @type {import('@opentelemetry/sdk-trace-base').Span[]} */
const spans = []
const keep = {
  /** @param {import('@opentelemetry/sdk-trace-base').Span} span */
  onStart: (span) => void spans.push(span),
  onEnd: () => {},
  forceFlush: async () => {},
  shutdown: async () => {},
}
const spanProcessors = [keep]
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }))
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

const stock = new Tool({
  name: 'stock',
  description: 'Tells how many of an article are in stock.',
  inputSchema: { type: 'object', properties: { article: { type: 'string' } } },
  effect: 'read',
  handler: () => 12,
})
const buyer = subAgent({
  name: 'buyer',
  description: 'Finds a supplier.',
  agent: {
    model: scriptedModel([[{ call: 'stock', args: {} }], [{ text: 'Spool Ltd' }]]),
    tools: [stock],
  },
})
const model = scriptedModel([
  [
    { call: 'stock', args: { article: 'bobbin' } },
    { call: 'buyer', args: { task: 'Who sells bobbins?' } },
  ],
  [{ text: 'Twelve are left; Spool Ltd has more.' }],
])

// #region runner
const runner = new TurnRunner({ model, tools: [stock, buyer], telemetry: telemetry() })
await runner.run({ conversation: 'shop', message: 'How many bobbins are left?' })
// #endregion runner

/**
 * @param {string} [parent]
 * @returns {string[]}
 */
function lines(parent) {
  return spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
    .flatMap((span) => [span.name, ...lines(span.spanContext().spanId).map((line) => `  ${line}`)])
}

// #region tree
const tree = `
invoke_agent
  chat scripted
  execute_tool stock
  execute_tool buyer
    invoke_agent buyer
      chat scripted
      execute_tool stock
      chat scripted
  chat scripted
`
// #endregion tree

assert.equal(`\n${lines().join('\n')}\n`, tree)
console.log('telemetry: all as expected')
