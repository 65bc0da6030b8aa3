import { type Context, context, type SpanContext, trace } from '@opentelemetry/api'
import type {
  ModelCallTrace,
  Scrub,
  ServedFrom,
  TracedToolCall,
  TurnTrace,
} from '../turn/events/telemetry.ts'
import { ATTRIBUTE, SERVED_METHOD } from './conventions.ts'
import { remoteContext, validPlace } from './open-span.ts'
import { ToolCallSpan } from './tool-call-span.ts'
import type { Tracing } from './tracing.ts'

/** A client chooses the id of its request. */
const MAX_REQUEST_ID = 128

/** A call that an MCP client asked for: one span, inside that of the client. The turn around it is not shown. */
export class ServedSpan implements TurnTrace {
  readonly #tracing: Tracing
  readonly #parent: Context
  readonly #beside: SpanContext | undefined
  readonly #requestId: string | undefined

  constructor(tracing: Tracing, from: ServedFrom) {
    this.#tracing = tracing
    this.#parent = remoteContext(from)
    this.#requestId = from.requestId?.slice(0, MAX_REQUEST_ID)
    const here = context.active()
    // Requests and their transport have contexts of their own: one HTTP request may carry several.
    this.#beside = this.#parent === here ? undefined : validPlace(() => trace.getSpanContext(here))
  }

  /** Whether there is a span around it. */
  get isInside(): boolean {
    return validPlace(() => trace.getSpanContext(this.#parent)) !== undefined
  }

  toolCall(call: TracedToolCall, scrub: Scrub): ToolCallSpan {
    const id = this.#requestId
    return new ToolCallSpan(this.#tracing, { context: this.#parent }, call, scrub, {
      name: `${SERVED_METHOD} ${call.tool}`,
      attributes: { [ATTRIBUTE.mcpMethod]: SERVED_METHOD },
      more: id === undefined ? {} : { [ATTRIBUTE.requestId]: id },
      beside: this.#beside,
    })
  }

  within<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  /** No model decides about a served call. */
  modelCall(): ModelCallTrace {
    return {
      within: (_model, _request, ask) => ask(),
      answered: () => {},
      ended: () => {},
      failed: () => {},
      left: () => {},
    }
  }

  continues(): void {}
  opened(): void {}
  agent(): void {}
  ended(): void {}
  failed(): void {}
}
