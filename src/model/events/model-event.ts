import type { JsonObject } from '../../core/json/json.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { FinishReason } from './finish-reason.ts'

/** An event of a model's answer. `finish` comes exactly once, last, or not at all. */
export type ModelEvent = TextDelta | ThoughtDelta | ToolInputDelta | Finish

/** A piece of the text that a model streams. */
export interface TextDelta {
  readonly type: 'text'
  /** Tells the pieces of one response apart; it means nothing outside it. */
  readonly key: string
  readonly delta: string
}

/** A piece of the reasoning that a model streams. */
export interface ThoughtDelta {
  readonly type: 'thought'
  readonly key: string
  readonly delta: string
}

/** Arguments while they stream, for display. They are not a call yet and have no id. */
export interface ToolInputDelta {
  readonly type: 'toolInput'
  readonly key: string
  readonly tool: string
  readonly delta: string
}

/** The terminal event: only here do calls come into being. */
export interface Finish {
  readonly type: 'finish'
  readonly reason: FinishReason
  /** The provider's own word. */
  readonly rawReason?: string
  /** Everything the response holds, in wire order; runner calls only when `reason` permits them. */
  readonly items: readonly HistoryItem[]
  /** Calls that `reason` does not permit. They never run; they are listed so that none is lost. */
  readonly unfinished: readonly UnfinishedCall[]
  readonly responseId?: string
  readonly usage?: Usage
  /** Why the provider found less in its cache than in the request before, in its own words; only where it was asked. */
  readonly cacheMiss?: JsonObject
  /** True when the provider read a stranger's pages for this response and no item holds them. */
  readonly grounded?: boolean
}

/** A call that the response began and did not validly finish. */
export interface UnfinishedCall {
  readonly tool: string
  /** The provider's pairing id, as far as it was sent. */
  readonly callId?: string
  /** The argument text received so far. */
  readonly rawArgs: string
}

/** Token counts as the provider bills them. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** The part of the input that came from a cache. */
  readonly cachedInputTokens?: number
  /** The part of the input that was written to a cache. */
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}
