// One subject of the telemetry benchmark in a process of its own: prints the CPU microseconds of a turn.
//   off     no telemetry            on     `telemetry()` with a real SDK and exporters in memory
//   idle    `telemetry()`, no SDK   hand   the same spans and measurements by hand, in middleware
//   layers  the middleware of `hand`, without spans and measurements
//   spans   the same spans by hand, without measurements
//   served-off, served-idle  calls that an MCP client makes, without telemetry and with `telemetry()` and no SDK
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, metrics, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { memoryStore, Tool, TurnRunner } from '../../dist/index.js'
import { telemetry } from '../../dist/otel/index.js'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'
import { scriptedModel } from '../../dist/testing/index.js'

const [subject = 'off', kind] = process.argv.slice(2)
const isHand = subject === 'hand' || subject === 'spans'
const isTraced = subject === 'on' || isHand
const isServed = subject.startsWith('served')
const [steps = 1, calls = 1] = process.argv.slice(4).map(Number)
// A served call is a turn of its own, and takes about ten times as long.
const TURNS = Math.ceil((subject.startsWith('served') ? 500 : 1_200) / (steps * calls))

const exporter = new InMemorySpanExporter()
if (isTraced) {
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
}
if (isTraced && subject !== 'spans') {
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const exportIntervalMillis = 3_600_000
  const readers = [new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis })]
  metrics.setGlobalMeterProvider(new MeterProvider({ readers }))
}

/** The measurements of `telemetry()`. */
function measures() {
  const meter = metrics.getMeter('hand')
  const histogram = (name) => meter.createHistogram(name)
  const [turns, models, firsts, tools] = ['turn', 'model', 'first', 'tool'].map(histogram)
  const counts = ['models', 'tools'].map(histogram)
  return {
    turn() {
      turns.record(1, {})
      for (const count of counts) count.record(1, {})
    },
    tool: (about) => tools.record(0.1, about),
    first: (about) => firsts.record(0.1, about),
    model: (about) => models.record(0.1, about),
  }
}

const none = () => {}
const NO_MEASURES = { turn: none, tool: none, first: none, model: none }

/** What `telemetry()` writes, with constants where it computes. */
function byHand(measured) {
  const tracer = trace.getTracer('hand')
  const digest = '0'.repeat(64)
  const tokens = { 'gen_ai.usage.input_tokens': 0, 'gen_ai.usage.output_tokens': 0 }
  const about = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'scripted',
    'gen_ai.request.model': 'scripted',
  }
  const operation = { 'gen_ai.operation.name': 'execute_tool' }
  const tool = { 'gen_ai.tool.name': 'stock', 'gen_ai.tool.type': 'function' }
  return {
    async turn({ conversation, turnId }, next) {
      const attributes = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.conversation.id': conversation,
        'bobbin.turn.id': turnId,
        'bobbin.turn.input': 'run',
      }
      const span = tracer.startSpan('invoke_agent', { attributes })
      const outcome = await context.with(trace.setSpan(context.active(), span), next)
      span.setAttributes({ 'bobbin.turn.status': 'completed', ...tokens })
      span.end()
      measured.turn()
      return outcome
    },
    async call({ id, checksum }, next) {
      const attributes = {
        ...operation,
        ...tool,
        'gen_ai.conversation.id': 'c',
        'gen_ai.tool.call.id': id,
        'bobbin.call.checksum': checksum,
      }
      const span = tracer.startSpan('execute_tool stock', { attributes })
      const record = await context.with(trace.setSpan(context.active(), span), next)
      span.setAttributes({
        'bobbin.call.settlement': 'ok',
        'bobbin.call.digest': digest,
        'bobbin.artifact.digest': [digest],
      })
      span.end()
      measured.tool(tool)
      return record
    },
    async *model(ask) {
      const attributes = { ...about, 'gen_ai.conversation.id': 'c', 'bobbin.model_call.id': 'm' }
      const span = tracer.startSpan('chat scripted', { kind: SpanKind.CLIENT, attributes })
      const inside = trace.setSpan(context.active(), span)
      const events = context.with(inside, () => ask()[Symbol.asyncIterator]())
      try {
        for (;;) {
          const { done, value } = await context.with(inside, () => events.next())
          if (done) break
          yield value
        }
      } finally {
        span.setAttribute('gen_ai.request.stream', true)
        span.setAttribute('gen_ai.response.time_to_first_chunk', 0.1)
        measured.first(about)
        span.setAttributes({ 'gen_ai.response.finish_reasons': ['tool_call'] })
        span.end()
        measured.model(about)
      }
    },
  }
}

const PLAIN = {
  turn: async (_, next) => next(),
  call: async (_, next) => next(),
  async *model(ask) {
    yield* ask()
  },
}

const HANDS = {
  hand: () => byHand(measures()),
  spans: () => byHand(NO_MEASURES),
  layers: () => PLAIN,
}
const layers = HANDS[subject]?.()

const stock = new Tool({
  name: 'stock',
  description: 'Tells how many of an article are in stock.',
  inputSchema: { type: 'object', properties: { article: { type: 'string' } } },
  effect: 'read',
  handler: async ({ article }) => `twelve of ${article}`,
})

const folder = mkdtempSync(join(tmpdir(), 'bobbin-bench-'))
const store = kind === 'sqlite' ? sqliteStore(join(folder, 'a.db')) : memoryStore()

async function turn() {
  const places = (length) => Array.from({ length }, (_, at) => at)
  const script = places(steps).map((step) =>
    places(calls).map((call) => ({ call: 'stock', args: { article: `${step}-${call}` } })),
  )
  const scripted = scriptedModel([...script, [{ text: 'Done.' }]])
  const stream = (...given) => layers.model(() => scripted.stream(...given))
  const runner = new TurnRunner({
    model: layers ? { ...scripted, stream } : scripted,
    tools: [stock],
    store,
    limits: { iterations: steps + 1, calls: steps * calls },
    ...((subject === 'on' || subject === 'idle') && { telemetry: telemetry() }),
    ...(layers && { middleware: [{ turn: layers.turn, call: layers.call }] }),
  })
  const { status, reason } = await runner.run({ message: 'Count.' })
  if (status !== 'completed') throw new Error(reason.message)
}

/** A client that calls the tool as often as a turn does. */
async function servedCalls() {
  const { Client, InMemoryTransport } = await import('@modelcontextprotocol/client')
  const { mcpServer } = await import('../../dist/mcp/index.js')
  const [near, far] = InMemoryTransport.createLinkedPair()
  const given = subject === 'served-idle' && { telemetry: telemetry() }
  const server = mcpServer({ tools: [stock], ...given })
  await server.connect(far)
  const client = new Client(
    { name: 'bench', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  await client.connect(near)
  const close = async () => {
    await client.close()
    await server.close()
  }
  const once = async () => {
    for (let call = 0; call < steps * calls; call++) {
      const { isError } = await client.callTool({
        name: 'stock',
        arguments: { article: `${call}` },
      })
      if (isError) throw new Error('The call failed.')
    }
  }
  return { once, close }
}

const served = isServed ? await servedCalls() : undefined
const work = served?.once ?? turn

async function cpu() {
  const before = process.cpuUsage()
  for (let i = 0; i < TURNS; i++) await work()
  const { user, system } = process.cpuUsage(before)
  const spans = exporter.getFinishedSpans().length
  const wanted = isTraced ? TURNS * (steps * calls + steps + 2) : 0
  if (spans !== wanted) throw new Error(`${spans} spans instead of ${wanted}`)
  exporter.reset()
  return (user + system) / TURNS
}

for (let round = 0; round < 3; round++) await cpu()
const samples = []
for (let round = 0; round < 5; round++) samples.push(await cpu())
console.log(samples.sort((a, b) => a - b)[2])
await served?.close()
await store.close?.()
rmSync(folder, { recursive: true })
