import type { BlobRow } from './blob-row.ts'
import type { LazySeal } from './lazy-seal.ts'
import type { MemoryRow } from './memory-row.ts'
import type { ConversationRow, GateRow } from './store-rows.ts'

/** What an append builds on in memory. */
export interface MemoryState {
  readonly row: ConversationRow
  readonly gates: ReadonlyMap<string, GateRow>
  /** The last seal; absent before the first. */
  readonly sealing: LazySeal | undefined
  /** The entries after it, in order. */
  unsealed(): { rows(): readonly MemoryRow[] }
}

/** An append whose rows are written out, hashed and sealed when they are read. */
export interface MemoryBatch {
  readonly entries: readonly MemoryRow[]
  /** Added or replaced. */
  readonly gates: ReadonlyMap<string, GateRow>
  readonly blobs: readonly BlobRow[]
  readonly references: readonly string[]
  readonly updatedAt: number
}
