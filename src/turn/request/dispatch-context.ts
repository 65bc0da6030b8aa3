import type { JsonObject } from '../../core/json/json.ts'
import type { MintId } from '../../model/wire/synthetic-id.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { Memory } from '../../records/memory.ts'
import type { Retrievable } from '../../records/retrievable.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { ToolRegistry } from '../../tools/tool-registry.ts'

/** The turn, as executors and middleware see it. */
export interface DispatchContext<Context = unknown> {
  /** What the application passed to `run` as `context`. No prompt shows it. */
  readonly context: Context
  readonly conversation: string
  readonly turnId: string
  /** From 1. */
  readonly iteration: number
  readonly signal: AbortSignal
  /** The agent that is active, where the runner has several. */
  readonly agent: string | undefined
  readonly instructions: string
  /**
   * The conversation in neutral form, ready to be encoded. With a budget, old results become handles in it. The
   * list grows during the turn; copy it to keep it as it is.
   */
  readonly items: readonly HistoryItem[]
  /** The tools of this iteration, including those forged for artifacts. */
  readonly tools: ToolRegistry
  /** The settled calls that are visible in this request, in the order asked. */
  readonly turnToolCalls: readonly ToolCall[]
  /** What middleware added for this turn. */
  readonly memories: readonly Memory[]
  readonly retrievables: readonly Retrievable[]
  /** The shape that the answer must have. */
  readonly output: { readonly name: string; readonly schema: JsonObject } | undefined
  /** How many calls with this checksum the turn has seen, including those that are running. */
  toolCallCount(checksum: string): number
  /** Makes ids for calls that arrive without one. */
  readonly mintId: MintId
  /** Stands for the conversation at prompt caches of providers; it cannot be guessed and tells nothing. */
  readonly cacheKey: string
  addMemory(memory: Memory): void
  addRetrievable(retrievable: Retrievable): void
}
