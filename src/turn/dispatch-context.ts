import type { JsonObject } from '../core/json.ts'
import type { MintId } from '../model/synthetic-id.ts'
import type { HistoryItem } from '../records/history-item.ts'
import type { Memory } from '../records/memory.ts'
import type { Retrievable } from '../records/retrievable.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { ToolRegistry } from '../tools/tool-registry.ts'

/** What an executor and middleware may know of the turn they work in. */
export interface DispatchContext {
  readonly conversation: string
  readonly turnId: string
  /** From 1. */
  readonly iteration: number
  readonly signal: AbortSignal
  readonly instructions: string
  /**
   * The conversation in neutral form, ready to be encoded. With a budget, old results become handles in it. It is
   * lent: the same list grows as the turn goes on, since nothing copies a history at each step. Copy it to keep it.
   */
  readonly items: readonly HistoryItem[]
  /** The tools on offer in this iteration, forged ones included. */
  readonly tools: ToolRegistry
  /** The settled calls that are visible in this request, oldest first. */
  readonly turnToolCalls: readonly ToolCall[]
  /** What middleware added for this turn. */
  readonly memories: readonly Memory[]
  readonly retrievables: readonly Retrievable[]
  /** The shape that the answer must have. */
  readonly output: { readonly name: string; readonly schema: JsonObject } | undefined
  /** How many calls with this checksum the turn has seen, those in flight included. */
  toolCallCount(checksum: string): number
  /** Makes ids for calls that arrive without one. */
  readonly mintId: MintId
  addMemory(memory: Memory): void
  addRetrievable(retrievable: Retrievable): void
}
