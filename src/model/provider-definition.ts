import type { BobbinError } from '../core/error/error.ts'
import type { SayChange } from './appended-changes.ts'
import type { HistoryPlace } from './history-place.ts'
import type { ModelRequest } from './model.ts'
import type { Repair } from './wire/encode-groups.ts'
import type { WireAdapter } from './wire/wire-adapter.ts'

/** Everything that Bobbin knows about one protocol. `defineProvider` checks it. */
export interface ProviderDefinition<Part extends object = object, Body extends object = object>
  extends WireAdapter<Part> {
  /** Another value whenever the same request gives another body: digests of bodies are compared under one version only. */
  readonly version: string | number
  /** What people call it, e.g. `Anthropic Messages`; `api` when absent. */
  readonly title?: string
  /** How a stream separates its events in bytes; `sse` unless given. */
  readonly framing?: Framing
  /** Where a request holds the history. `validate` then refuses payloads of other protocols. */
  readonly history?: HistoryPlace
  /** What this protocol can do that not all can. */
  readonly abilities?: Abilities
  /** True for a payload that shows by its shape that it is of this protocol. */
  detect(payload: unknown): boolean
  /** The body of a request, as the client is given it. Pure: the same input gives the same body. */
  requestBody(input: BodyInput<Part>): Body
  /**
   * The request that continues a response which stopped at the limit of one, with the token that it gave. `decode` then
   * takes the list of responses.
   */
  continuedBody?(body: Body, token: string): Body
  /**
   * How changes of instructions and tools are appended to the history, so that what stands before it stays as it is. Gives
   * undefined for a model or a host that does not take them. Without it, changed tools and instructions replace the old ones.
   */
  appends?(to: AppendTarget): SayChange | undefined
  /** Any error of the client as an error of ours. Aborts never get here. */
  errors(error: unknown): BobbinError
  /** The server's side, for `loopbackProvider`. */
  readonly loopback?: LoopbackHalf
  /** Payloads to test it with. */
  readonly fixtures?: readonly WireFixture[]
  /** Its name on the command line. */
  readonly cli?: CommandLineModel
}

/** `json` has one value a line; `eventstream` is the binary framing of Amazon. */
export type Framing = 'sse' | 'json' | 'eventstream'

/** What a protocol can do that not all can. */
export interface Abilities {
  /** Tools can be added after the first request without changing what was sent before. */
  readonly appendTools?: boolean
  /** So can instructions. */
  readonly appendInstructions?: boolean
  /** The result of a call may come in any later request. */
  readonly lateResults?: boolean
  /** A request can mark how much of it the provider should cache. */
  readonly cacheMarkers?: boolean
  /** Reasoning is taken back only after the very request that it was produced under. */
  readonly boundThinking?: boolean
}

/** A model that a change may be appended for. */
export interface AppendTarget {
  readonly model: string
  readonly endpoint?: string
  /** What the application says about it; absent where the protocol decides. */
  readonly appends?: boolean
}

/** What the body of a request is made from. */
export interface BodyInput<Part extends object = object> {
  readonly model: string
  /** What `encode` gave for the items of the request. */
  readonly part: Part
  readonly request: ModelRequest
  /** Other members of the request, in the provider's words. */
  readonly params?: object
  /** Tools that the provider runs or defines, in its words. */
  readonly hostedTools?: readonly object[]
  /** True when the response shall be streamed. */
  readonly stream: boolean
  readonly endpoint?: string
  readonly modelFamily?: string
  /** Whether to ask the provider to cache the request; absent where the protocol decides. */
  readonly cache?: boolean
  /**
   * Present when the provider is to say why it found less in its cache: the id of the response to compare with, or null for the
   * first request.
   */
  readonly compareWith?: string | null
  /** See `AppendTarget`. */
  readonly appends?: boolean
  /** See `cacheKey` of `ModelCallOptions`. */
  readonly cacheKey?: string
  /** Receives every change that the history needed, beside those of `encode`. */
  onRepair?(repair: Repair): void
}

/** A protocol over HTTP as its server speaks it: paths of requests, framing of events, form of errors. */
export interface LoopbackHalf {
  /** What the path of a request must match. */
  readonly route: RegExp
  /** Comes before the route in the base URL that the provider's client is given. */
  readonly basePath: string
  /** Whether a request wants a stream. */
  isStream(path: string, body: unknown): boolean
  /** One event as it goes over the wire; a string is sent verbatim as its data. */
  frame(event: unknown): string | Uint8Array
  /** What follows the last event of a whole stream; nothing when absent. */
  readonly trailer?: string
  /** The content type of a stream; `text/event-stream` when absent. */
  readonly contentType?: string
  /** Cuts recorded bytes into events; after blank lines when absent. */
  split?(bytes: Uint8Array): readonly Uint8Array[]
  /** The body of an answer with an error status. */
  errorBody(status: number, message: string): object
  /** The event for an error after the stream began. */
  errorEvent(status: number, message: string): unknown
}

/** One payload of a protocol, and the expected result. */
export interface WireFixture {
  readonly title: string
  readonly api: string
  /** The wire types that it shows, e.g. `function_call`. */
  readonly covers: readonly string[]
  /** `stream` has `events`; the others have `payload`. */
  readonly kind: 'response' | 'items' | 'history' | 'stream'
  readonly payload?: unknown
  readonly events?: readonly unknown[]
  /** What `decode` must give as `calls`; compared as a subset, in order. */
  readonly calls?: readonly Record<string, unknown>[]
  /** What `decode` must give as the types of `items`, in order. */
  readonly items?: readonly string[]
  /** The provider took this request, so that `validate` must have nothing against `payload`. */
  readonly accepted?: boolean
  /** The provider refused this request: `validate` must name this rule and no other. */
  readonly refused?: string
  /** The list that encoding the decoded items must give. */
  readonly echo?: unknown
}

/** How the command line names a provider and makes a model of it. */
export interface CommandLineModel {
  /** What stands before the colon in `--model`. */
  readonly name: string
  /** The environment variables where its key is looked for. */
  readonly keys: readonly string[]
  readonly defaultModel?: string
  /** The package of the client, which has to be installed. */
  readonly client: string
  /** The module with the function that makes a model, e.g. `bobbin-adk/anthropic`; a page that only decodes loads none. */
  readonly entry: string
  /** The name of that function. */
  readonly factory: string
  /** Its options, besides `model`, from the loaded package of the client. */
  connect(sdk: unknown, connection: CommandLineConnection): object
}

/** What the command line knows about a model to connect to. */
export interface CommandLineConnection {
  readonly apiKey: string
  readonly baseURL?: string
}
