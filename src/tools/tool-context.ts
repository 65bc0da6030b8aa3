import type { JsonValue } from '../core/json/json.ts'
import type { JsonCompatible } from '../core/json/json-compatible.ts'
import type { Artifact, SpooledArtifactConstructor } from '../spool/artifact.ts'
import type { Media } from '../spool/media.ts'
import type { SpoolInput } from '../spool/spool-store.ts'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from './execution-events.ts'
import type { PersonRequest } from './person-request.ts'

/** JSON as programs hold it: a member that is `undefined` is left out, as `JSON.stringify` does. */
export type JsonOutput = JsonValue | readonly JsonOutput[] | JsonOutputObject
/** An object of such JSON. */
export interface JsonOutputObject {
  readonly [key: string]: JsonOutput | undefined
}

/**
 * Everything a handler may return; a plain value becomes a JSON artifact. A list may hold media beside texts, artifacts
 * and JSON values.
 */
export type ToolOutput =
  | SpoolInput
  | Media
  | readonly Media[]
  | Artifact
  | readonly Artifact[]
  | readonly (Media | Artifact | JsonOutput)[]
  | JsonOutput
  | PersonRequest
  | undefined

/** `R`, if a call can have such a result; else a type whose error says what is not JSON. */
export type OutputOf<R> = R extends ToolOutput | void ? R : JsonCompatible<R>

/** The same for the return type of a handler, which may be a promise. */
export type ReturnedBy<R> = [R] extends [ToolOutput | Promise<ToolOutput>]
  ? R
  : R extends Promise<infer Later>
    ? Promise<OutputOf<Later>>
    : R extends PromiseLike<infer Later>
      ? PromiseLike<OutputOf<Later>>
      : OutputOf<R>

/** What a person answered, and what the handler kept for itself. */
export interface GivenInput {
  /** The value that fits the schema of `inputRequired`. */
  readonly value?: JsonValue | undefined
  /** True after `linkRequired`. */
  readonly done?: true
  /** True if the person declined a question that has `runOnDecline`. */
  readonly declined?: true
  readonly state?: JsonValue
}

/** Where a call is in a distributed trace, in the form of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/** The context that a handler gets with its arguments; `Context` is what the application passes to `run`. */
export interface ToolContext<Context = unknown> {
  /** What the application passed to `run` as `context`: who the user is, for instance. */
  readonly context: Context
  /** Aborts at the call's timeout or when the turn is aborted; pass it on to whatever you call. */
  readonly signal: AbortSignal
  /** The record's id: tells identical parallel calls apart. */
  readonly toolCallId: string | undefined
  /** The checksum of tool and arguments. */
  readonly callId: string
  /** The same for every attempt at this call; pass it to services that deduplicate. */
  readonly idempotencyKey: string
  /** The answer of a person, when the handler runs again after `inputRequired` or `linkRequired`. */
  readonly input?: GivenInput
  /** The span of this call, if the runner has `telemetry`: pass it on to other services. */
  readonly trace?: TraceContext
  /** Reports progress to observers. */
  progress<T>(update: T & JsonCompatible<T>): void
  /** A secret by name. Secrets reach handlers here and never through arguments. */
  secret(name: string): Promise<string>
  /** Writes data to the spool as an artifact, so that a handler can return several. */
  spool<A extends Artifact>(data: SpoolInput, Class: SpooledArtifactConstructor<A>): Promise<A>
  spool(data: SpoolInput): Promise<Artifact>
}

/** The key under which a context carries the call around a handler, for turns that start inside it. */
export const AROUND: unique symbol = Symbol.for('bobbin/around-call')

/** The context of `tool.executor`. Every part is optional. */
export interface ExecutionContext {
  readonly [AROUND]?: object
  readonly context?: unknown
  readonly signal?: AbortSignal
  /** Whether the signal has aborted, for a context that makes its signal when it is read. */
  readonly isAborted?: boolean
  readonly toolCallId?: string
  readonly idempotencyKey?: string
  readonly input?: GivenInput
  readonly trace?: TraceContext | undefined
  /** Arguments that were read and validated already, with their checksum; neither is done again. */
  readonly validated?: { readonly value: unknown; readonly checksum?: string }
  /** Receives the start and the end of every execution. */
  emit?(event: ToolExecutionStartEvent | ToolExecutionEndEvent): void
  progress?(update: JsonValue): void
  secret?(name: string): string | Promise<string>
  spool?(data: SpoolInput, Class?: SpooledArtifactConstructor): Promise<Artifact>
  now?(): number
}
