import type { Meter, Tracer } from '@opentelemetry/api'
import { requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { hasMethods } from '../core/options.ts'
import type { Telemetry } from '../turn/events/telemetry.ts'
import { loadedOnce, requireApi } from './load-tracing.ts'

/** The options of `telemetry`. */
export interface TelemetryOptions {
  /** Makes the spans; that of the registered SDK unless given. */
  readonly tracer?: Tracer
  /** Measures; that of the registered SDK unless given. */
  readonly meter?: Meter
  /**
   * True puts prompts, answers, arguments, results and messages of errors into spans, without the secrets that the turn
   * gave to its handlers. Without it, no content leaves the process.
   */
  readonly content?: boolean
}

/**
 * Traces the turns of a runner with OpenTelemetry: `new TurnRunner({ telemetry: telemetry(), … })`. Without a registered
 * SDK nothing happens.
 */
export function telemetry(options: TelemetryOptions = {}): Telemetry {
  requireOptions('telemetry', options, ['tracer', 'meter', 'content'])
  const { tracer, meter, content = false } = options
  if (tracer !== undefined && !hasMethods('startSpan')(tracer)) {
    throw wrongInput('telemetry', 'tracer', "must be a tracer, such as `trace.getTracer('app')`")
  }
  if (meter !== undefined && !hasMethods('createHistogram', 'createCounter')(meter)) {
    throw wrongInput('telemetry', 'meter', "must be a meter, such as `metrics.getMeter('app')`")
  }
  if (typeof content !== 'boolean') {
    throw wrongInput('telemetry', 'content', 'must be true, or be left out')
  }
  // Loading OpenTelemetry takes a while: the first turn does it.
  const tracing = loadedOnce(async () => {
    await requireApi()
    return (await import('./turn-tracing.ts')).turnTracing(tracer, meter, content)
  })
  return {
    turn: async (begin) => (await tracing()).turn(begin),
    served: async (from) => (await tracing()).served(from),
  }
}
