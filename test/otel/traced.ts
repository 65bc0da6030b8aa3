import { context, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { telemetry } from '../../src/otel/index.ts'
import type { Telemetry } from '../../src/turn/events/telemetry.ts'

/** Spans, and those inside them, in the order of their starts. */
export interface SpanTree {
  readonly [name: string]: SpanTree
}

/** A real SDK that exports to memory. */
export interface Traced {
  readonly telemetry: Telemetry
  readonly tracer: Tracer
  spans(): readonly ReadableSpan[]
  span(name: string): ReadableSpan
  /** The names of all spans as a tree; siblings of one name are numbered. */
  tree(): SpanTree
  /** The sums of all metrics; of a histogram, the number of values. */
  metrics(): Promise<Readonly<Record<string, number>>>
  /** The values of one metric, each with its attributes; of a histogram, the sum of its values. */
  points(metric: string): Promise<readonly Point[]>
  /** Everything that is exported about metrics. */
  measured(): Promise<readonly MetricData[]>
}

export interface Point {
  readonly attributes: object
  readonly value: number
}

/** Without this, no span knows the one around it. */
export function propagateContext(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
}

export function traced(options: { content?: boolean; sampler?: Sampler } = {}): Traced {
  const { content, sampler } = options
  const exporter = new InMemorySpanExporter()
  // The clock of spans is too coarse to order them.
  const started: string[] = []
  const provider = new BasicTracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor(exporter),
      {
        onStart: (span) => void started.push(span.spanContext().spanId),
        onEnd: () => {},
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
    ...(sampler && { sampler }),
  })
  const tracer = provider.getTracer('test')
  const { provider: measures, ...values } = meters()
  const meter = measures.getMeter('test')
  const place = (span: ReadableSpan) => started.indexOf(span.spanContext().spanId)
  const spans = () => exporter.getFinishedSpans().toSorted((a, b) => place(a) - place(b))
  return {
    telemetry: telemetry({ tracer, meter, ...(content !== undefined && { content }) }),
    tracer,
    spans,
    span(name) {
      const found = spans().find((each) => each.name === name)
      if (found === undefined) throw new Error(`There is no span \`${name}\`.`)
      return found
    },
    tree: () => inside(undefined, spans()),
    metrics: values.counts,
    points: values.points,
    measured: values.measured,
  }
}

/** A real provider of meters that exports to memory. */
export function meters() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const measured = async () => {
    await reader.forceFlush()
    const last = exporter.getMetrics().at(-1)
    return last?.scopeMetrics.flatMap((each) => each.metrics) ?? []
  }
  return {
    provider,
    measured,
    async points(metric: string): Promise<readonly Point[]> {
      const found = (await measured()).find(({ descriptor }) => descriptor.name === metric)
      return (found?.dataPoints ?? []).map(({ attributes, value }) => {
        const sum = typeof value === 'number' ? value : (value.sum ?? Number.NaN)
        return { attributes, value: sum }
      })
    },
    async counts() {
      return Object.fromEntries(
        (await measured()).map(({ descriptor, dataPoints }) => {
          const sum = dataPoints.reduce(
            (total, { value }) => total + (typeof value === 'number' ? value : value.count),
            0,
          )
          return [descriptor.name, sum]
        }),
      )
    },
  }
}

function inside(parent: string | undefined, spans: readonly ReadableSpan[]): SpanTree {
  const tree: Record<string, SpanTree> = {}
  for (const span of spans) {
    if (span.parentSpanContext?.spanId !== parent) continue
    let name = span.name
    for (let place = 2; name in tree; place++) name = `${span.name} (${place})`
    tree[name] = inside(span.spanContext().spanId, spans)
  }
  return tree
}
