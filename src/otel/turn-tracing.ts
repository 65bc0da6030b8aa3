import { type Meter, type Tracer, trace } from '@opentelemetry/api'
import { hasMethods } from '../core/options.ts'
import type { ServedFrom, TurnBegin, TurnTrace } from '../turn/events/telemetry.ts'
import { isMeasured, measuring } from './instruments.ts'
import { safely } from './safely.ts'
import { SCOPE } from './scope.ts'
import { ServedSpan } from './served-span.ts'
import { TurnSpan } from './turn-span.ts'

/** What traces turns and served calls, with OpenTelemetry loaded. */
export interface TurnTracing {
  turn(begin: TurnBegin): TurnTrace | undefined
  served(from: ServedFrom): TurnTrace | undefined
}

export function turnTracing(
  given: Tracer | undefined,
  meter: Meter | undefined,
  content: boolean,
): TurnTracing {
  const tracer = given ?? trace.getTracer(SCOPE)
  const tracing = { tracer, measure: measuring(meter), content }
  return {
    turn(begin) {
      const turn = new TurnSpan(tracing, begin)
      return turn.isKnown || isMeasured(meter) ? turn : undefined
    },
    served(from) {
      const call = new ServedSpan(tracing, from)
      return isTraced(given) || call.isInside || isMeasured(meter) ? call : undefined
    },
  }
}

/** Whether spans are made: a tracer was given, or an SDK is registered. */
function isTraced(given: Tracer | undefined): boolean {
  if (given !== undefined) return true
  return (
    safely(() => {
      const provider: unknown = trace.getTracerProvider()
      if (!hasMethods('getDelegateTracer')(provider)) return true
      // What stands for the SDK until one is registered.
      const standIn = provider as { getDelegateTracer(name: string): Tracer | undefined }
      return standIn.getDelegateTracer(SCOPE) !== undefined
    }) ?? false
  )
}
