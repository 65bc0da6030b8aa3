import { wrongInput } from '../../core/error/wrong-input.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { CallItem, HistoryItem } from '../../records/history-item.ts'
import { type FinishReason, permitsTools } from './finish-reason.ts'
import type { Finish, UnfinishedCall, Usage } from './model-event.ts'

/** What a terminal wire event says. */
export interface Ending {
  readonly reason: FinishReason
  readonly rawReason?: string
  readonly responseId?: string
  readonly usage?: Usage
  /** Why the provider found less in its cache than in the request before, in its own words; only where it was asked. */
  readonly cacheMiss?: JsonObject
  readonly grounded?: boolean
}

/**
 * The one place where calls come into being, for streamed and whole responses alike: adapters collect
 * the wire's own items until the terminal event, decode them once, and hand them here. A runner's call
 * is admitted only when the finish reason permits tools; a buffer that happens to parse is not a call.
 */
export function assemble(items: readonly HistoryItem[], ending: Ending): Finish {
  if (!Array.isArray(items)) throw wrongInput('assemble', 'items', 'must be a list of items')
  if (typeof (ending as Partial<Ending> | null | undefined)?.reason !== 'string') {
    throw wrongInput('assemble', 'ending', 'must be an object with a `reason`')
  }
  if (permitsTools(ending.reason)) return { type: 'finish', ...ending, items, unfinished: [] }
  return {
    type: 'finish',
    ...ending,
    items: withoutRunnerCalls(items),
    unfinished: items.filter(isRunnerCall).map(unfinishedCall),
  }
}

/** The items to keep of a response that did not end, or whose end does not permit tools. */
export function withoutRunnerCalls(items: readonly HistoryItem[]): readonly HistoryItem[] {
  return items.filter((item) => !isRunnerCall(item))
}

function isRunnerCall(item: HistoryItem): item is CallItem {
  return item.type === 'call' && item.executedBy === 'runner'
}

function unfinishedCall({ tool, wire, args, rawArgs }: CallItem): UnfinishedCall {
  return {
    tool,
    ...(wire.callId !== undefined && { callId: wire.callId }),
    rawArgs: rawArgs ?? JSON.stringify(args),
  }
}
