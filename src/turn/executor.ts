import type { PlainObject } from '../core/json.ts'
import type { ProviderData, WireReference } from '../core/wire-reference.ts'
import type { Repair } from '../model/encoder.ts'
import type { FinishReason } from '../model/finish-reason.ts'
import type { UnfinishedCall, Usage } from '../model/model-event.ts'
import type { CallItem, HistoryItem } from '../records/history-item.ts'
import type { DispatchContext } from './dispatch-context.ts'
import type { TurnTextContent, TurnToolInputContent } from './turn-events.ts'

/** A call that an executor asks for. Without an id it gets an unguessable one. */
export interface CallRequest {
  readonly id?: string
  readonly tool: string
  readonly args: string | PlainObject
  readonly wire?: WireReference
  readonly providerData?: ProviderData
  readonly fault?: CallItem['fault']
  readonly rawArgs?: string
}

interface DecisionDetail {
  /** Everything the response held, in wire order; calls to run stand in it where they stood. */
  readonly items?: readonly HistoryItem[]
  /** Calls that were begun and not validly finished: told, settled as refused, never run. */
  readonly unfinished?: readonly UnfinishedCall[]
  readonly usage?: Usage | undefined
  readonly finish?: FinishReason
}

/** What happens next: calls to run (none: go round once more), or the answer. */
export type Decision = DecisionDetail &
  ({ readonly calls: readonly CallRequest[] } | { readonly answer: string })

/** Tells what is under way while an executor is still deciding. */
export interface ExecutorHelpers {
  message(content: TurnTextContent): void
  thought(content: TurnTextContent): void
  toolInput(content: TurnToolInputContent): void
  /** Tells whoever watches what encoding the history took. */
  historyRepair(repair: Repair): void
}

/** Decides what happens next in an iteration. It decides; the runner acts. */
export type Executor = (ctx: DispatchContext, helpers: ExecutorHelpers) => Promise<Decision>
