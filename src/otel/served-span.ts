import { type Context, context, type SpanContext, trace } from '@opentelemetry/api'
import type { ModelCallTrace, Scrub, TracedToolCall, TurnTrace } from '../turn/events/telemetry.ts'
import { ATTRIBUTE, SERVED_METHOD } from './conventions.ts'
import { ToolCallSpan } from './tool-call-span.ts'
import type { Tracing } from './tracing.ts'

/** A call that an MCP client asked for: one span, inside that of the client. The turn around it is not shown. */
export class ServedSpan implements TurnTrace {
  readonly #tracing: Tracing
  readonly #parent: Context
  readonly #beside: SpanContext | undefined

  constructor(tracing: Tracing, parent: Context) {
    this.#tracing = tracing
    this.#parent = parent
    const here = context.active()
    // Requests and their transport have contexts of their own: one HTTP request may carry several.
    this.#beside = parent === here ? undefined : trace.getSpanContext(here)
  }

  toolCall(call: TracedToolCall, scrub: Scrub): ToolCallSpan {
    return new ToolCallSpan(this.#tracing, this.#parent, call, scrub, {
      name: `${SERVED_METHOD} ${call.tool}`,
      attributes: { [ATTRIBUTE.mcpMethod]: SERVED_METHOD },
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
    }
  }

  continues(): void {}
  agent(): void {}
  ended(): void {}
  failed(): void {}
}
