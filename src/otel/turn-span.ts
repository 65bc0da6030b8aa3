import { type Attributes, context } from '@opentelemetry/api'
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
import { errorType, OpenSpan, plainWord } from './open-span.ts'
import { safely } from './safely.ts'
import { TOOL, ToolCallSpan } from './tool-call-span.ts'
import { contentText, errorMessage, type Owner, type Tracing } from './tracing.ts'

/** What one agent did in a turn. */
interface Counts {
  modelCalls: number
  toolCalls: number
}

/** One turn: the span `invoke_agent`. */
export class TurnSpan implements TurnTrace {
  readonly #tracing: Tracing
  readonly #conversation: string
  readonly #span: OpenSpan
  /** The agent that began the turn; the span has its name. */
  #first: string | undefined
  #active: string | undefined
  #hasAgents = false
  readonly #counts = new Map<string | undefined, Counts>()
  /** Requests that have not ended. */
  #open: readonly ModelCallSpan[] = []
  /** Before the turn is open, no secret was given to it. */
  #scrub: Scrub = (value) => value

  constructor(tracing: Tracing, { conversation, turnId, way, isNested }: TurnBegin) {
    this.#tracing = tracing
    this.#conversation = conversation
    const parent = context.active()
    const tool = isNested ? parent.getValue(TOOL) : undefined
    this.#first = typeof tool === 'string' ? tool : undefined
    this.#active = this.#first
    this.#span = new OpenSpan({
      tracer: tracing.tracer,
      name: nameOf(this.#first),
      parent,
      attributes: {
        [ATTRIBUTE.operation]: OPERATION.turn,
        [ATTRIBUTE.conversation]: conversation,
        [ATTRIBUTE.turn]: turnId,
        [ATTRIBUTE.turnInput]: way,
        ...named(this.#first),
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

  opened(scrub: Scrub): void {
    this.#scrub = scrub
  }

  agent(name: string): void {
    this.#active = name
    if (this.#hasAgents) return
    this.#hasAgents = true
    this.#first = name
    if (!this.#span.isRecording) return
    this.#span.rename(nameOf(name))
    this.#span.set(named(name))
  }

  within<T>(work: () => Promise<T>): Promise<T> {
    return this.#span.within(work)
  }

  modelCall(call: TracedModelCall, scrub: Scrub): ModelCallTrace {
    this.#countsOf(this.#active).modelCalls++
    const made = new ModelCallSpan(this.#tracing, this.#owner, call, scrub)
    this.#open = [...this.#open.filter(({ isOver }) => !isOver), made]
    return made
  }

  toolCall(call: TracedToolCall, scrub: Scrub): ToolCallTrace {
    this.#countsOf(this.#active).toolCalls++
    return new ToolCallSpan(this.#tracing, this.#owner, call, scrub)
  }

  get #owner(): Owner {
    return {
      context: this.#span.context,
      conversation: this.#conversation,
      agent: this.#active,
    }
  }

  #countsOf(agent: string | undefined): Counts {
    const counts = this.#counts.get(agent) ?? { modelCalls: 0, toolCalls: 0 }
    this.#counts.set(agent, counts)
    return counts
  }

  ended(outcome: TurnOutcome): void {
    if (this.#span.isOver) return
    const failure = safely(() => failureOf(outcome))
    if (this.#span.isRecording) {
      // An outcome that a middleware layer made may lack anything.
      safely(() => this.#describe(outcome))
      if (failure !== undefined) {
        const message = safely(() => outcome.reason?.message)
        const isTold = this.#tracing.content && typeof message === 'string'
        this.#span.fail(failure, isTold ? contentText(message, this.#scrub) : undefined)
      }
    }
    this.#close(failure)
  }

  #describe({ status, reason, usage, gates }: Partial<TurnOutcome>): void {
    this.#span.set({
      [ATTRIBUTE.turnStatus]: plainWord(status),
      ...(reason && { [ATTRIBUTE.turnReason]: plainWord(reason.code) }),
      ...(usage && usageAttributes(usage)),
    })
    for (const { id, kind, tool } of gates ?? []) {
      this.#span.event(GATE_EVENT, {
        [ATTRIBUTE.gateId]: id,
        [ATTRIBUTE.gateKind]: kind,
        ...(tool !== undefined && { [ATTRIBUTE.tool]: tool }),
      })
    }
  }

  failed(error: unknown): void {
    if (this.#span.isOver) return
    const type = errorType(error)
    this.#span.fail(type, errorMessage(this.#tracing, error, this.#scrub))
    this.#close(type)
  }

  #close(failure: string | undefined): void {
    const { measure } = this.#tracing
    for (const request of this.#open) request.left()
    this.#open = []
    measure('turnDuration', this.#span.end(), {
      ...named(this.#first),
      ...(failure !== undefined && { [ATTRIBUTE.error]: failure }),
    })
    this.#countsOf(this.#first)
    for (const [agent, { modelCalls, toolCalls }] of this.#counts) {
      measure('modelCalls', modelCalls, named(agent))
      measure('toolCalls', toolCalls, named(agent))
    }
  }
}

const named = (agent: string | undefined): Attributes =>
  agent === undefined ? {} : { [ATTRIBUTE.agent]: agent }

const nameOf = (agent: string | undefined): string =>
  agent === undefined ? OPERATION.turn : `${OPERATION.turn} ${agent}`

const failureOf = ({ status, reason }: Partial<TurnOutcome>): string | undefined =>
  status === 'failed' ? plainWord(reason?.errorCode ?? reason?.code) : undefined
