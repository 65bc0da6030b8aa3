import type { TokenCount } from '../text/token-count.ts'

/** A part of every request besides the history. */
export type FixedPart = 'instructions' | 'tools' | 'context' | 'output'

/** What a request was found to hold and what had to go; plain data, for an event. */
export interface BudgetReport {
  readonly limit: number
  /** False when not even the least that must be sent has room. */
  readonly fits: boolean
  /** The size of the request after shedding. */
  readonly total: TokenCount
  readonly parts: Readonly<Record<FixedPart | 'history', TokenCount>>
  /** Ids of calls that are shown as handles from now on. */
  readonly turnedToHandles: readonly string[]
  /** Ids of items that are left out from now on, whole groups only. */
  readonly dropped: readonly string[]
  /** Ids of memories and retrievables that are left out from now on. */
  readonly droppedContext: readonly string[]
  readonly groups: { readonly kept: number; readonly dropped: number }
}
