import type { JsonValue } from '../core/json.ts'
import type { JsonCompatible } from '../core/json-compatible.ts'
import type { Artifact, SpooledArtifactConstructor } from '../spool/artifact.ts'
import type { Media } from '../spool/media.ts'
import type { SpoolInput } from '../spool/spool-store.ts'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from './execution-events.ts'

/** JSON as programs hold it: a member that is `undefined` is left out, as `JSON.stringify` does. */
export type JsonOutput = JsonValue | readonly JsonOutput[] | JsonOutputObject
/** An object of such JSON. */
export interface JsonOutputObject {
  readonly [key: string]: JsonOutput | undefined
}

/** Everything a handler may return; a plain value becomes a JSON artifact. */
export type ToolOutput =
  | SpoolInput
  | Media
  | readonly Media[]
  | Artifact
  | readonly Artifact[]
  | JsonOutput
  | undefined

/** `R`, if a call can have such a result; else a type that says what in it is not JSON. */
export type OutputOf<R> = R extends ToolOutput | void ? R : JsonCompatible<R>

/** The same for what a handler returns, which may have to be waited for. */
export type ReturnedBy<R> = [R] extends [ToolOutput | Promise<ToolOutput>]
  ? R
  : R extends Promise<infer Later>
    ? Promise<OutputOf<Later>>
    : R extends PromiseLike<infer Later>
      ? PromiseLike<OutputOf<Later>>
      : OutputOf<R>

/** What a handler is given besides its arguments. */
export interface ToolContext {
  /** Aborts at the call's timeout or when the turn is aborted; pass it on to whatever you call. */
  readonly signal: AbortSignal
  /** The record's id: tells identical parallel calls apart. */
  readonly toolCallId: string | undefined
  /** The checksum of tool and arguments. */
  readonly callId: string
  /** The same for every attempt at this call; hand it to services that deduplicate. */
  readonly idempotencyKey: string
  /** Reports what is under way, for whoever watches. */
  progress<T>(update: T & JsonCompatible<T>): void
  /** A secret by name. Secrets reach handlers here and never through arguments. */
  secret(name: string): Promise<string>
  /** Winds data onto the spool and wraps it, so that a handler can return several artifacts. */
  spool<A extends Artifact>(data: SpoolInput, Class: SpooledArtifactConstructor<A>): Promise<A>
  spool(data: SpoolInput): Promise<Artifact>
}

/** What an executor may be given; every part has a sane absence. */
export interface ExecutionContext {
  readonly signal?: AbortSignal
  readonly toolCallId?: string
  readonly idempotencyKey?: string
  /** Tells whether the signal has aborted, for those who make it only when it is asked for. */
  isAborted?(): boolean
  /** Arguments that admission read and validated already, with their checksum; neither is done again. */
  readonly validated?: { readonly value: unknown; readonly checksum?: string }
  /** False when nobody would hear an event of this name: it is not made then. */
  listens?(name: 'toolExecutionStart' | 'toolExecutionEnd'): boolean
  /** Hears the start and the end of every execution. */
  emit?(event: ToolExecutionStartEvent | ToolExecutionEndEvent): void
  progress?(update: JsonValue): void
  secret?(name: string): string | Promise<string>
  spool?(data: SpoolInput, Class?: SpooledArtifactConstructor): Promise<Artifact>
  now?(): number
}
