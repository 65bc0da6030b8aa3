import type { PlainObject } from '../../core/json/json.ts'
import type { ProviderData, WireReference } from '../../core/wire-reference.ts'
import type { FinishReason } from '../../model/events/finish-reason.ts'
import type { Finish, ModelEvent, UnfinishedCall, Usage } from '../../model/events/model-event.ts'
import type {
  KeptResponse,
  Model,
  ModelFallback,
  ModelName,
  ModelRequest,
  SentRequest,
} from '../../model/model.ts'
import type { Repair } from '../../model/wire/encode-groups.ts'
import type { CallItem, HistoryItem } from '../../records/history-item.ts'
import type { TurnTextContent, TurnToolInputContent } from '../events/turn-events.ts'
import type { DispatchContext } from '../request/dispatch-context.ts'

/** A call that an executor asks for. Without an id it gets a random one. */
export interface CallRequest {
  readonly id?: string
  readonly tool: string
  readonly args: string | PlainObject
  readonly wire?: WireReference
  readonly providerData?: ProviderData
  readonly fault?: CallItem['fault']
  readonly rawArgs?: string
  /** The id that `helpers.toolInput` got while the arguments streamed; the announcement of the call names it. */
  readonly inputId?: string
}

interface DecisionDetail {
  /** All items of the response in wire order, including the calls to run. */
  readonly items?: readonly HistoryItem[]
  /** Calls that the response did not finish: announced, settled as refused, never run. */
  readonly unfinished?: readonly (UnfinishedCall & Pick<CallRequest, 'inputId'>)[]
  readonly usage?: Usage | undefined
  readonly finish?: FinishReason
  /** True when the answer rests on a stranger's pages that no item holds: its calls are judged as tainted. */
  readonly grounded?: boolean
  /** SHA-256 of the request that an executor has sent by itself, in lower-case hex; stored with the response. */
  readonly requestDigest?: string
}

/** What happens next: calls to run (none: go round once more), or the answer. */
export type ExecutorDecision = DecisionDetail &
  ({ readonly calls: readonly CallRequest[] } | { readonly answer: string })

/** Passes on content while an executor is still deciding. */
export interface ExecutorHelpers {
  message(content: TurnTextContent): void
  thought(content: TurnTextContent): void
  toolInput(content: TurnToolInputContent): void
  /**
   * Gives a text to put before the ids of one model call. It differs from call to call, so that an executor may ask
   * several models in one step.
   */
  modelCall?(): string
  /** Begins the record of one request to a model; the log names every one, and what it cost. */
  roundTrip?(model: ModelName, fallback?: ModelFallback): RoundTrip
  /** A response of this model that an earlier try, or a process that died, left at the provider. */
  kept?(model: ModelName): KeptResponse | undefined
  /** Tells observers that a model failed and another one is asked. */
  modelFallback?(change: ModelFallback): void
  /** Tells observers how the history was repaired for encoding. */
  historyRepair(repair: Repair): void
}

/** One request to a model: its executor reports how it ends. */
export interface RoundTrip {
  /** The request as it was sent. */
  sent(sent: SentRequest, request: ModelRequest): void
  /** The provider keeps the response under this token. */
  kept?(token: string): void
  /** The first event of the response has come. */
  answered(): void
  /** The response is whole. */
  ended(end: Pick<Finish, 'reason' | 'usage' | 'cacheMiss'> & Partial<Pick<Finish, 'items'>>): void
  failed(error: unknown): void
  /** Asks the model inside of the trace of the request; absent when nothing is traced. */
  within?(
    model: Model,
    request: ModelRequest,
    ask: () => AsyncIterable<ModelEvent>,
  ): AsyncIterable<ModelEvent>
}

/** Decides what happens next in an iteration. It decides; the runner acts. */
export type Executor = (ctx: DispatchContext, helpers: ExecutorHelpers) => Promise<ExecutorDecision>
