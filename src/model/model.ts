import type { JsonObject } from '../core/json/json.ts'
import type { HistoryItem } from '../records/history-item.ts'
import type { ModelEvent } from './events/model-event.ts'
import type { PromptPieces } from './prompt-pieces.ts'
import type { ToolChoice, ToolDefinition } from './tool-definition.ts'
import type { Repair } from './wire/encode-groups.ts'
import type { MintId } from './wire/synthetic-id.ts'

/** The provider-neutral contract that the built-in executor drives; adapters implement it. */
export interface Model {
  /** The protocol, e.g. `openai-responses`. */
  readonly api: string
  /** Who serves it, e.g. `openai`. */
  readonly provider: string
  readonly model: string
  /** With `api`, the key under which opaque state may be replayed. */
  readonly endpoint?: string
  readonly modelFamily?: string
  /** True when changed instructions and tools are appended to the history, so that requests only grow. */
  readonly appends?: boolean
  /** True when its client makes a span of each request by itself. `telemetry()` suppresses those: its own spans know more. */
  readonly traces?: boolean
  /** True when it asks for streams. Unless it says so, a first delta shows it. */
  readonly streams?: boolean
  /**
   * One round trip. Deltas as they come, then one `finish`; a non-streaming model gives only the
   * latter. A stream that ends without a terminal wire event throws and yields no `finish`.
   */
  stream(request: ModelRequest, options?: ModelCallOptions): AsyncIterable<ModelEvent>
}

/** Everything that one round trip needs. */
export interface ModelRequest {
  readonly instructions?: string
  /** The history. The list grows while the turn runs: copy it to keep it. */
  readonly items: readonly HistoryItem[]
  readonly tools?: readonly ToolDefinition[]
  readonly toolChoice?: ToolChoice
  /** Ask for an answer of this shape. */
  readonly output?: { readonly name: string; readonly schema: JsonObject }
}

/** What a runner passes to each model call. */
export interface ModelCallOptions {
  readonly signal?: AbortSignal
  /** Mints ids for calls that arrive without one; random and per call when absent. */
  readonly mint?: MintId
  /**
   * Stands for the conversation at the provider's prompt cache: the same for all its requests, and without any meaning
   * elsewhere.
   */
  readonly cacheKey?: string
  /** A response that the provider keeps: it is picked up if the request is still the one that it answers. */
  readonly kept?: KeptResponse
  /** Receives the token of a response that the provider keeps, as soon as it is known. */
  onKept?(token: string): void
  /** Receives every repair that encoding the history took. */
  onRepair?(repair: Repair): void
  /** Receives every change to another model that `fallbackModel` makes. */
  onFallback?(change: ModelFallback): void
  /** Asks a model: what observes requests puts itself around each. `fallbackModel` calls it for every model that it asks. */
  around?(
    model: Model,
    request: ModelRequest,
    ask: () => AsyncIterable<ModelEvent>,
  ): AsyncIterable<ModelEvent>
  /** Receives what every request is made of, before it is sent. */
  onRequest?(sent: SentRequest): void
}

/** A request to a provider, as its client is given it. */
export interface SentRequest extends ModelName {
  /** The version of the protocol's definition: under one version, the same request gives the same body. */
  readonly adapter: string | number
  /** SHA-256 of the body in canonical form, without headers; absent if the body is not JSON. */
  readonly digest?: string
  /** What the body is made of, besides the request. */
  readonly settings: object
  /** The prompt in it; absent for a protocol that does not say where its history is. */
  readonly prompt?: PromptPieces
}

/** A response that a provider keeps while it is made and for some time after. */
export interface KeptResponse {
  readonly token: string
  /** The `digest` of the request that it answers. */
  readonly digest: string
}

/** One model failed, and the same request goes to another one. */
export interface ModelFallback {
  readonly from: ModelName
  readonly to: ModelName
  readonly error: unknown
}

/** Names a model. */
export type ModelName = Pick<Model, 'api' | 'provider' | 'model'>
