import { type Attributes, context, createContextKey } from '@opentelemetry/api'
import type {
  ModelCallTrace,
  Scrub,
  ToolCallTrace,
  TracedModelCall,
  TracedToolCall,
  TurnBegin,
  TurnTrace,
} from '../turn/events/telemetry.ts'
import type { TurnOutcome } from '../turn/limits/outcome.ts'
import { ATTRIBUTE, GATE_EVENT, OPERATION } from './conventions.ts'
import { ModelCallSpan, usageAttributes } from './model-call-span.ts'
import { errorType, OpenSpan } from './open-span.ts'
import { ToolCallSpan } from './tool-call-span.ts'
import { errorMessage, type Tracing } from './tracing.ts'

/** The tool whose handler runs: a turn inside it is named after it. */
const TOOL = createContextKey('bobbin-adk tool')

const same: Scrub = (value) => value

/** One turn: the span `invoke_agent`. */
export class TurnSpan implements TurnTrace {
  readonly #tracing: Tracing
  readonly #conversation: string
  readonly #span: OpenSpan
  #agent: string | undefined
  #modelCalls = 0
  #toolCalls = 0

  constructor(tracing: Tracing, { conversation, turnId, way, isNested }: TurnBegin) {
    this.#tracing = tracing
    this.#conversation = conversation
    const parent = context.active()
    const tool = isNested ? parent.getValue(TOOL) : undefined
    this.#agent = typeof tool === 'string' ? tool : undefined
    this.#span = new OpenSpan({
      tracer: tracing.tracer,
      name: nameOf(this.#agent),
      parent,
      attributes: {
        [ATTRIBUTE.operation]: OPERATION.turn,
        [ATTRIBUTE.conversation]: conversation,
        [ATTRIBUTE.turn]: turnId,
        [ATTRIBUTE.turnInput]: way,
        ...this.#named,
      },
    })
  }

  /** False when nobody would hear of it. */
  get isKnown(): boolean {
    return this.#span.isKnown
  }

  get name(): string | undefined {
    return this.#span.traceparent
  }

  continues(name: string): void {
    this.#span.link(name)
  }

  agent(name: string): void {
    this.#agent = name
    if (!this.#span.isRecording) return
    this.#span.rename(nameOf(name))
    this.#span.set(this.#named)
  }

  within<T>(work: () => Promise<T>): Promise<T> {
    return this.#span.within(work)
  }

  modelCall(call: TracedModelCall, scrub: Scrub): ModelCallTrace {
    this.#modelCalls++
    return new ModelCallSpan(this.#tracing, this.#span.context, this.#conversation, call, scrub)
  }

  toolCall(call: TracedToolCall, scrub: Scrub): ToolCallTrace {
    this.#toolCalls++
    const parent = this.#span.context.setValue(TOOL, call.tool)
    return new ToolCallSpan(this.#tracing, parent, call, scrub)
  }

  ended({ status, reason, usage, gates }: TurnOutcome): void {
    if (this.#span.isOver) return
    const failure = status === 'failed' ? (reason.errorCode ?? reason.code) : undefined
    if (this.#span.isRecording) {
      this.#span.set({
        [ATTRIBUTE.turnStatus]: status,
        ...(reason && { [ATTRIBUTE.turnReason]: reason.code }),
        ...usageAttributes(usage),
      })
      for (const { id, kind, tool } of gates) {
        this.#span.event(GATE_EVENT, {
          [ATTRIBUTE.gateId]: id,
          [ATTRIBUTE.gateKind]: kind,
          ...(tool !== undefined && { [ATTRIBUTE.tool]: tool }),
        })
      }
      if (failure !== undefined) {
        this.#span.fail(failure, this.#tracing.content ? reason?.message : undefined)
      }
    }
    this.#close(failure)
  }

  failed(error: unknown): void {
    if (this.#span.isOver) return
    const type = errorType(error)
    this.#span.fail(type, errorMessage(this.#tracing, error, same))
    this.#close(type)
  }

  get #named(): Attributes {
    return this.#agent === undefined ? {} : { [ATTRIBUTE.agent]: this.#agent }
  }

  #close(failure: string | undefined): void {
    const { measure } = this.#tracing
    measure('turnDuration', this.#span.end(), {
      ...this.#named,
      ...(failure !== undefined && { [ATTRIBUTE.error]: failure }),
    })
    measure('modelCalls', this.#modelCalls, this.#named)
    measure('toolCalls', this.#toolCalls, this.#named)
  }
}

const nameOf = (agent: string | undefined): string =>
  agent === undefined ? OPERATION.turn : `${OPERATION.turn} ${agent}`
