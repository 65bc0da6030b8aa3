import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { Finish, ModelEvent, Usage } from '../../model/events/model-event.ts'
import type { Model, ModelName, ModelRequest } from '../../model/model.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { TraceContext } from '../../tools/tool-context.ts'
import type { TurnOutcome } from '../limits/outcome.ts'

/** Traces the turns of a runner. `telemetry()` of `bobbin-adk/otel` makes one. None of its functions throws. */
export interface Telemetry {
  /** A turn begins. Gives nothing when tracing is off. */
  turn(begin: TurnBegin): TurnTrace | undefined | Promise<TurnTrace | undefined>
  /** A server begins to serve a call of a client, which says where it is in its own trace. */
  served?(from: ServedFrom): TurnTrace | undefined | Promise<TurnTrace | undefined>
}

/** Where a served call comes from: the place of the client in its trace, and the id of its request. */
export interface ServedFrom extends Partial<TraceContext> {
  readonly requestId?: string
}

/** What is known of a turn when it begins. */
export interface TurnBegin {
  readonly conversation: string
  readonly turnId: string
  readonly way: 'run' | 'resume' | 'recover' | 'undo'
  /** Whether it runs inside a call. */
  readonly isNested: boolean
}

/** Removes the secrets that the turn gave to its handlers. */
export type Scrub = (value: JsonValue) => JsonValue

/** The trace of one turn. */
export interface TurnTrace {
  /** Names the trace and the span in the first entry of the turn. Absent when nothing is traced. */
  readonly name?: string | undefined
  /** The name that the turn stored which this one continues. */
  continues(name: string): void
  /** The turn is open: from here on, texts about it may have secrets in them. */
  opened(scrub: Scrub): void
  /** The agent that is active, where the runner has several: at the start, and after each hand-over. */
  agent(name: string): void
  /** Runs the turn inside the span. */
  within<T>(work: () => Promise<T>): Promise<T>
  /** A request to a model begins. */
  modelCall(call: TracedModelCall, scrub: Scrub): ModelCallTrace
  /** A handler begins. */
  toolCall(call: TracedToolCall, scrub: Scrub): ToolCallTrace
  ended(outcome: TurnOutcome): void
  /** The turn did not begin. */
  failed(error: unknown): void
}

/** A request to a model, before it is sent. */
export interface TracedModelCall extends ModelName {
  /** The id of its entry in the log. A request for a summary has none. */
  readonly id?: string
  readonly iteration: number
  /** From 1. */
  readonly attempt?: number
}

/** The trace of one request to a model. What comes after its end is ignored. */
export interface ModelCallTrace {
  /** Asks the model inside the span. */
  within(
    model: Model,
    request: ModelRequest,
    ask: () => AsyncIterable<ModelEvent>,
  ): AsyncIterable<ModelEvent>
  answered(): void
  ended(end: TracedFinish): void
  failed(error: unknown): void
  /** The step was decided without it, or the turn has ended: its end will not be reported. */
  left(): void
}

/** The end of a response. */
export interface TracedFinish extends Pick<Finish, 'reason'> {
  readonly usage?: Usage | undefined
  readonly items?: readonly HistoryItem[] | undefined
}

/** A call whose handler is about to run. */
export interface TracedToolCall {
  readonly id: string
  readonly tool: string
  readonly description: string
  readonly checksum: string
  readonly args: JsonObject
}

/** The trace of one call. What comes after its end is ignored. */
export interface ToolCallTrace {
  /** The place of the call in its trace, for other services. */
  readonly place?: TraceContext | undefined
  /** Runs the handler inside the span. */
  within<T>(work: () => Promise<T>): Promise<T>
  /** The call has its record, which is not stored yet: this must not wait for anything. */
  settled(record: ToolCall): void
  /** The call waits for people. */
  waits(): void
  /** The call has no record. */
  failed(error: unknown): void
}
