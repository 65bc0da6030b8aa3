import { type Meter, type Tracer, trace } from '@opentelemetry/api'
import type { TraceContext } from '../tools/tool-context.ts'
import type { TurnBegin, TurnTrace } from '../turn/events/telemetry.ts'
import { isMeasured, measuring } from './instruments.ts'
import { remoteContext } from './open-span.ts'
import { SCOPE } from './scope.ts'
import { ServedSpan } from './served-span.ts'
import { TurnSpan } from './turn-span.ts'

/** What traces turns and served calls, with OpenTelemetry loaded. */
export interface TurnTracing {
  turn(begin: TurnBegin): TurnTrace | undefined
  served(from: Partial<TraceContext>): TurnTrace
}

export function turnTracing(
  tracer: Tracer = trace.getTracer(SCOPE),
  meter: Meter | undefined,
  content: boolean,
): TurnTracing {
  const tracing = { tracer, measure: measuring(meter), content }
  return {
    turn(begin) {
      const turn = new TurnSpan(tracing, begin)
      return turn.isKnown || isMeasured(meter) ? turn : undefined
    },
    served: (from) => new ServedSpan(tracing, remoteContext(from)),
  }
}
