import { isObject, wrongInput } from '../../core/error/wrong-input.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { isAtLeast, isFunction } from '../../core/options.ts'
import type { Usage } from '../../model/events/model-event.ts'
import type { ModelName } from '../../model/model.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { ModelCallTrace } from '../events/telemetry.ts'

/** When a runner replaces the beginning of a conversation by a summary, and what writes it. */
export interface Compaction<Context = unknown> {
  /** How many tokens a request may have before the runner asks for a summary; at most `budget.maxTokens`. */
  readonly at: number
  /**
   * How many of the newest turns stay as they are; two unless given. If they alone are more than `at`, the summary also
   * covers the beginning of them, and the messages of the running turn stay.
   */
  readonly keepTurns?: number
  /** Writes the summary, such as `modelSummary(model)`. */
  readonly summarise: Summarise<Context>
}

/** Writes the summary of the beginning of a conversation. */
export type Summarise<Context = unknown> = (
  request: SummaryRequest<Context>,
) => SummaryAnswer | string | Promise<SummaryAnswer | string>

/** What a summary has to cover. */
export interface SummaryRequest<Context = unknown> {
  /** What no request shows from now on, oldest first. Results of tools stand in their envelopes. */
  readonly items: readonly HistoryItem[]
  /** The summary of what came before. The new one takes its place, so it must say that too. */
  readonly previous?: string
  /** What the application passed to `run` as `context`. */
  readonly context: Context
  /** Aborts with the turn. */
  readonly signal: AbortSignal
  /** Begins the trace of a request to a model, if the runner has `telemetry`. Say how the request ends. */
  readonly trace?: (model: ModelName) => ModelCallTrace | undefined
}

/** A summary, and what it cost. */
export interface SummaryAnswer {
  readonly text: string
  readonly usage?: Usage
  /** The name of the model that wrote it, for `prices`. */
  readonly model?: string
}

export const KEEP_TURNS = 2

const MEMBERS = ['at', 'keepTurns', 'summarise']

/** Whether a value is a compaction. */
export function isCompaction(value: unknown): boolean {
  if (!isObject(value)) return false
  const { at, keepTurns, summarise } = value as Partial<Compaction>
  return (
    Object.keys(value).every((name) => MEMBERS.includes(name)) &&
    isAtLeast(1)(at) &&
    (keepTurns === undefined || (Number.isSafeInteger(keepTurns) && keepTurns >= 1)) &&
    isFunction(summarise)
  )
}

/** Checks what `summarise` gave. */
export function checkedAnswer(given: unknown): SummaryAnswer {
  const answer = typeof given === 'string' ? { text: given } : given
  const { text } = (answer ?? {}) as { readonly text?: JsonValue }
  if (typeof text === 'string' && text.trim() !== '') return answer as SummaryAnswer
  throw wrongInput(
    'summarise',
    'text',
    'must be a text that is not empty, alone or as `{ text, usage }`',
  )
}
