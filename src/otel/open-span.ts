import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  createTraceState,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { isBobbinError } from '../core/error/error.ts'
import type { TraceContext } from '../tools/tool-context.ts'
import { ATTRIBUTE } from './conventions.ts'
import { safely } from './safely.ts'

/** The key with which OpenTelemetry's own packages suppress spans. */
const SUPPRESSED = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

/** What a span begins with. */
export interface SpanBegin {
  readonly tracer: Tracer
  readonly name: string
  readonly parent: Context
  readonly attributes: Attributes
  readonly kind?: SpanKind
  /** A span beside it that led to it too. */
  readonly beside?: SpanContext | undefined
}

/** A span until its end, and the context in which it is active. Nothing here throws. */
export class OpenSpan {
  readonly context: Context
  readonly #span: Span
  readonly #startedAt = performance.now()
  #endedAt: number | undefined

  constructor({ tracer, name, parent, attributes, kind = SpanKind.INTERNAL, beside }: SpanBegin) {
    const links = beside ? [{ context: beside }] : []
    const started = safely(() => tracer.startSpan(name, { kind, attributes, links }, parent))
    // The code of an application that asks for the active span must get one with every method.
    const isWhole = typeof safely(() => started?.spanContext) === 'function'
    this.#span = (isWhole && started) || trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
    this.context = trace.setSpan(parent, this.#span)
  }

  /** False where nothing is recorded: then no attribute needs to be made. */
  get isRecording(): boolean {
    return safely(() => this.#span.isRecording()) ?? false
  }

  /** False without an SDK, and without a span around it. */
  get isKnown(): boolean {
    return this.#place !== undefined
  }

  /** What names the span; undefined if nothing does. */
  get #place(): SpanContext | undefined {
    return validPlace(() => this.#span.spanContext())
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined
  }

  /** The seconds from its start until now, or until its end. */
  get elapsed(): number {
    return ((this.#endedAt ?? performance.now()) - this.#startedAt) / 1000
  }

  /** The span as a W3C `traceparent`, if it is sampled: others would find nothing there. */
  get traceparent(): string | undefined {
    const span = this.#place
    if (span === undefined || (span.traceFlags & TraceFlags.SAMPLED) === 0) return undefined
    return `00-${span.traceId}-${span.spanId}-01`
  }

  /** The span for other services, sampled or not: they follow that decision. */
  get place(): TraceContext | undefined {
    const span = this.#place
    if (span === undefined) return undefined
    const flags = span.traceFlags.toString(16).padStart(2, '0')
    const tracestate = safely(() => span.traceState?.serialize())
    return {
      traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
      ...(tracestate && { tracestate }),
    }
  }

  set(attributes: Attributes): void {
    if (this.isRecording) safely(() => this.#span.setAttributes(attributes))
  }

  rename(name: string): void {
    safely(() => this.#span.updateName(name))
  }

  event(name: string, attributes: Attributes): void {
    safely(() => this.#span.addEvent(name, attributes))
  }

  /** Links to a span that `traceparent` named. Stored text is not believed. */
  link(traceparent: string): void {
    const linked = remoteSpan(traceparent)
    if (linked !== undefined) safely(() => this.#span.addLink({ context: linked }))
  }

  /** Marks the span as failed. The message may hold contents: it is given only where those are wanted. */
  fail(type: string, message?: string): void {
    this.set({ [ATTRIBUTE.error]: type })
    const status = { code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) }
    safely(() => this.#span.setStatus(status))
  }

  /** Fixes the duration; the span is exported with `end`. Gives the seconds. */
  stop(): number {
    this.#endedAt ??= performance.now()
    return this.elapsed
  }

  /** Exports the span, with the duration that `stop` fixed. */
  end(): number {
    const wasOver = this.isOver
    const seconds = this.stop()
    safely(() => this.#span.end(wasOver ? this.#endedAt : undefined))
    return seconds
  }

  within<T>(work: () => T): T {
    return context.with(this.context, work)
  }

  /** Runs work inside the span that makes no spans. */
  withinSuppressed<T>(work: () => T): T {
    return context.with(this.context.setValue(SUPPRESSED, true), work)
  }
}

/** The place of a span. A span may be of any make: what it gives is checked. */
export function validPlace(give: () => SpanContext | undefined): SpanContext | undefined {
  return safely(() => {
    const place = give()
    const isPlace = place !== undefined && isSpanContextValid(place)
    return isPlace && Number.isInteger(place.traceFlags) ? place : undefined
  })
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** The span that a `traceparent` names. Text from outside is not believed. */
function remoteSpan(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(span) ? span : undefined
}

const MAX_STATE = 512

/** The context in which a span of another process is active. Without one, the context that is active here. */
export function remoteContext({ traceparent, tracestate }: Partial<TraceContext>): Context {
  const span = typeof traceparent === 'string' ? remoteSpan(traceparent) : undefined
  if (span === undefined) return context.active()
  const isState = typeof tracestate === 'string' && tracestate.length <= MAX_STATE
  const traceState = isState ? safely(() => createTraceState(tracestate)) : undefined
  return trace.setSpanContext(context.active(), { ...span, ...(traceState && { traceState }) })
}

/** A plain word as it is; anything else may be a content, and has too many values. */
export const plainWord = (word: unknown): string =>
  typeof word === 'string' && /^[A-Za-z]\w{0,63}$/.test(word) ? word : '_OTHER'

/** A word for the kind of an error, never its message. Its class is code; its `name` may have been set from data. */
export function errorType(error: unknown): string {
  if (isBobbinError(error)) return plainWord(error.code)
  return plainWord(safely(() => (error instanceof Error ? classOf(error) : undefined)))
}

const classOf = (error: Error): unknown =>
  (Object.getPrototypeOf(error) as { readonly constructor?: { readonly name?: unknown } } | null)
    ?.constructor?.name
