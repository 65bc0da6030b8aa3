import { type Attributes, createNoopMeter, type Meter, metrics } from '@opentelemetry/api'
import { ATTRIBUTE, METRIC } from './conventions.ts'
import { safely } from './safely.ts'
import { SCOPE } from './scope.ts'

/** Adds one value to a metric. */
export type Measure = (metric: keyof typeof METRIC, value: number, attributes: Attributes) => void

type Instruments = Readonly<Record<keyof typeof METRIC, (value: number, about: Attributes) => void>>

/** Whether anybody measures. */
export const isMeasured = (given: Meter | undefined): boolean =>
  safely(() => (given ?? metrics.getMeter(SCOPE)) !== createNoopMeter()) ?? false

/** Measures with the meter that is given, or with that of the SDK which is registered when a value comes. */
export function measuring(given: Meter | undefined): Measure {
  let provider: unknown
  let instruments: Instruments | undefined
  return (metric, value, attributes) =>
    safely(() => {
      // Unlike a tracer, a meter that was made before the SDK was registered never measures.
      const current = given ?? metrics.getMeterProvider()
      if (instruments === undefined || provider !== current) {
        provider = current
        instruments = instrumentsOf(given ?? metrics.getMeter(SCOPE))
      }
      instruments[metric](value, attributes)
    })
}

function instrumentsOf(meter: Meter): Instruments {
  const made = Object.entries(METRIC).map(([key, metric]) => {
    const { name, unit, description } = metric
    if (!('buckets' in metric)) {
      const counter = meter.createCounter(name, { unit, description })
      const add = (value: number, about: Attributes) => counter.add(value, about)
      return [key, add] as const
    }
    const advice = { explicitBucketBoundaries: [...metric.buckets] }
    const histogram = meter.createHistogram(name, { unit, description, advice })
    const record = (value: number, about: Attributes) => histogram.record(value, about)
    return [key, record] as const
  })
  return Object.fromEntries(made) as unknown as Instruments
}

/** Providers do not say of which kind the tokens are. */
export const UNKNOWN_MODALITY = { [ATTRIBUTE.modality]: 'unknown' } as const
