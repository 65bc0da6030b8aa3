import { type Meter, type Tracer, trace } from '@opentelemetry/api'
import type { TurnBegin, TurnTrace } from '../turn/events/telemetry.ts'
import { isMeasured, measuring } from './instruments.ts'
import { SCOPE } from './scope.ts'
import { TurnSpan } from './turn-span.ts'

/** What traces turns, with OpenTelemetry loaded. */
export function turnTracing(
  tracer: Tracer = trace.getTracer(SCOPE),
  meter: Meter | undefined,
  content: boolean,
): (begin: TurnBegin) => TurnTrace | undefined {
  const tracing = { tracer, measure: measuring(meter), content }
  return (begin) => {
    const turn = new TurnSpan(tracing, begin)
    return turn.isKnown || isMeasured(meter) ? turn : undefined
  }
}
