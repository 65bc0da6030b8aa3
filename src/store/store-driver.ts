import type { AppendRequest } from './append-request.ts'
import type { MemoryBatch, MemoryState } from './memory-append.ts'
import type { EntryFilter } from './store.ts'
import type { ConversationRow, EntryRow, EntryText, FoundText, GateRow } from './store-rows.ts'

/**
 * What a database does for `createStore`: rows in, rows out, each method one transaction. Digests, seals,
 * gates' states, verification, import and export are `createStore`'s business, and written once.
 */
export interface StoreDriver {
  readonly durable: boolean
  /** Makes the conversation, or raises its epoch when the lease is free, over, or taken by force. */
  acquire(request: AcquireRequest): Promise<Acquired>
  /** Sets the lease's end while `epoch` is current; gives the conversation as it is then. */
  extend(conversation: string, epoch: number, until: number): Promise<ConversationRow | undefined>
  append(
    conversation: string,
    epoch: number,
    plan: AppendPlan,
  ): AppendOutcome | Promise<AppendOutcome>
  /**
   * Keeps entries that never change and texts as they are, where nothing else is in an append; gives
   * undefined where something is. Only for drivers that hold the rows themselves.
   */
  keep?(request: AppendRequest, now: number): AppendOutcome | undefined
  /** Entries from `from` on in order of `seq`, at most `limit`. */
  texts(conversation: string, from: number, limit: number): Promise<readonly EntryText[]>
  /** The same with every column, for verification. */
  rows(conversation: string, from: number, limit: number): Promise<readonly EntryRow[]>
  text(conversation: string, kind: string, id: string): Promise<EntryText | undefined>
  /** Entries with `position` above `after`, in that order, at most `limit`. */
  find(filter: EntryFilter, after: number, limit: number): Promise<readonly FoundText[]>
  count(filter: EntryFilter): Promise<number>
  conversation(id: string): Promise<ConversationRow | undefined>
  conversations(after: string, limit: number): Promise<readonly ConversationRow[]>
  gate(conversation: string, id: string): Promise<GateRow | undefined>
  /** In the order in which they were opened; `open` gates are those not consumed, expired or abandoned. */
  gates(query: GateQuery): Promise<readonly GateRow[]>
  /** Replaces a gate if its digest is still `expected`. */
  replaceGate(gate: GateRow, expected: string): Promise<boolean>
  blob(digest: string): Promise<Uint8Array | undefined>
  /** Digests above `after` that entries of one or any conversation refer to, in order. */
  references(conversation: string | undefined, after: string, limit: number): Promise<string[]>
  delete(conversation: string): Promise<boolean>
  close(): Promise<void>
}

export interface GateQuery {
  readonly conversation?: string
  readonly open: boolean
  readonly limit: number
}

export interface AcquireRequest {
  readonly conversation: string
  readonly owner: string
  readonly now: number
  readonly until: number
  readonly force: boolean
  /** Makes what a new conversation stores; whoever takes one that is there need not ask. */
  readonly newKey: () => Pick<ConversationRow, 'key' | 'keyCheck'>
}

export interface Acquired {
  readonly granted: boolean
  readonly created: boolean
  /** As it is afterwards, granted or not. */
  readonly row: ConversationRow
}

/** An append, up to the point where the transaction has shown what it builds on. */
export interface AppendPlan {
  /** Gates that the transaction must show, locked until it ends. */
  readonly gates: readonly string[]
  /** Whether the digests after the last seal are needed. */
  readonly seals: boolean
  /** Called in the transaction, whose epoch is current by then; what it throws rolls everything back. */
  prepare(state: AppendState): AppendBatch
  /** The same for a driver that holds the rows themselves: they are written out when they are read. */
  hold(state: MemoryState): MemoryBatch
}

export interface AppendState {
  readonly row: Pick<ConversationRow, 'length' | 'sealedSeq' | 'seal'>
  /** The row with its key, which takes longer to read; asked for when a turn ends. */
  readonly whole: () => ConversationRow
  readonly gates: ReadonlyMap<string, GateRow>
  /** Digests of the entries after `sealedSeq`, in order; empty unless the plan asked for them. */
  readonly unsealed: readonly string[]
}

export interface AppendBatch {
  readonly entries: readonly EntryRow[]
  /** Added or replaced. */
  readonly gates: readonly GateRow[]
  /** Added unless they are there. */
  readonly blobs: readonly { readonly digest: string; readonly bytes: Uint8Array }[]
  readonly references: readonly string[]
  readonly updatedAt: number
  readonly sealedSeq: number
  readonly seal: string
}

export type AppendOutcome =
  | { readonly status: 'done' }
  | { readonly status: 'missing' }
  | { readonly status: 'stale'; readonly current: number }
  | { readonly status: 'duplicate' }
