import type { HistoryItem } from '../records/history-item.ts'
import type { FinishReason } from './finish-reason.ts'

/** What a model tells while and after it answers. `finish` comes exactly once, last, or not at all. */
export type ModelEvent = TextDelta | ThoughtDelta | ToolInputDelta | Finish

export interface TextDelta {
  readonly type: 'text'
  /** Tells the pieces of one response apart; it means nothing outside it. */
  readonly key: string
  readonly delta: string
}

export interface ThoughtDelta {
  readonly type: 'thought'
  readonly key: string
  readonly delta: string
}

/** Arguments under way, for whoever wants to watch: half an argument is no call and has no id. */
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
  /** Calls that `reason` does not permit. They are never run; they are told so that none vanishes. */
  readonly unfinished: readonly UnfinishedCall[]
  readonly responseId?: string
  readonly usage?: Usage
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
  readonly cachedInputTokens?: number
  readonly reasoningTokens?: number
}
