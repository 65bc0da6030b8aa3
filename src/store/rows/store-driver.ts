import type { NewEntry } from '../entry.ts'
import type { FeedDriver } from '../feed-driver.ts'
import type { EntryFilter } from '../store.ts'
import type { ConversationListing } from './conversation-listing.ts'
import type { MetaRow } from './conversation-meta.ts'
import type {
  BlobRow,
  ConversationRow,
  EntryRow,
  EntryText,
  FoundText,
  GateRow,
  GrantRow,
} from './store-rows.ts'

/**
 * What a database does for `createStore`: it stores and finds rows, and each method is one transaction.
 * `createStore` does the rest once for all drivers: digests, seals, gate states, verification, import and export.
 */
export interface StoreDriver {
  readonly durable: boolean
  /** Makes the conversation, or raises its epoch if the lease is free, over, or taken by force. */
  acquire(request: AcquireRequest): Promise<Acquired>
  /** Sets the end of the lease if `epoch` is current. Gives the lease as it is afterwards. */
  extend(conversation: string, epoch: number, until: number): Promise<LeaseRow | undefined>
  append(conversation: string, epoch: number, plan: AppendPlan): Promise<AppendOutcome>
  /** Entries from `from` on in order of `seq`, at most `limit`. */
  texts(conversation: string, from: number, limit: number): Promise<readonly EntryText[]>
  /** The same with every column, for verification. */
  rows(conversation: string, from: number, limit: number): Promise<readonly EntryRow[]>
  text(conversation: string, kind: string, id: string): Promise<EntryText | undefined>
  /** Entries that fit a filter, in the order of their `position`. */
  find(filter: EntryFilter, page: EntryRange): Promise<readonly FoundText[]>
  count(filter: EntryFilter): Promise<number>
  conversation(id: string): Promise<ConversationRow | undefined>
  conversations(listing: ConversationListing): Promise<readonly ConversationRow[]>
  /** Replaces the metadata of a conversation by what `change` makes of it; undefined if there is no such conversation. */
  setMeta(
    conversation: string,
    change: (meta: string) => MetaRow,
  ): Promise<ConversationRow | undefined>
  gate(conversation: string, id: string): Promise<GateRow | undefined>
  /** In the order in which they were opened. `open` leaves out consumed, expired and abandoned gates. */
  gates(query: GateQuery): Promise<readonly GateRow[]>
  /** Replaces a gate if its digest is still `expected`, and then adds the grant, if there is one. */
  replaceGate(gate: GateRow, expected: string, grant?: GrantRow): Promise<boolean>
  grant(id: string): Promise<GrantRow | undefined>
  /** In the order in which they were given. */
  grants(listing: GrantListing): Promise<readonly GrantRow[]>
  /** The different shapes of live grants for a tool, of each of these scopes. */
  grantShapes(
    scopes: readonly string[],
    tool: string,
  ): Promise<readonly Pick<GrantRow, 'scope' | 'shape'>[]>
  /** Replaces a grant if its digest is still `expected`. */
  replaceGrant(grant: GrantRow, expected: string): Promise<boolean>
  blob(digest: string): Promise<Uint8Array | undefined>
  /** Digests above `after` that entries of one or any conversation refer to, in order. */
  references(conversation: string | undefined, after: string, limit: number): Promise<string[]>
  /** Makes a conversation of the first entries of another. */
  fork(plan: ForkPlan): Promise<ForkOutcome>
  /** The conversations inside calls that a fork took over. */
  inherited(fork: string): Promise<readonly string[]>
  /** Whether any fork but this one took over the conversation. */
  isInherited(conversation: string, except: string): Promise<boolean>
  /** Removes a conversation with everything in it, and the grants that were given in it. */
  delete(conversation: string): Promise<boolean>
  close(): Promise<void>
  /** How processes reach the turns of each other; see `FeedDriver`. */
  readonly feed?: FeedDriver
}

/** A fork that is complete except for the rows that the database copies. */
export interface ForkPlan {
  readonly from: string
  /** How many entries to copy. */
  readonly length: number
  /** The digest of the last of them; empty without entries. If the origin has another digest there, it is `missing`. */
  readonly digest: string
  /** The new conversation. Its members in the table of metadata are those of the origin. */
  readonly row: ConversationRow
  /** Added after the copies. */
  readonly entries: readonly EntryRow[]
  readonly gates: readonly GateRow[]
  readonly references: readonly string[]
  /** Names. Those of them that are conversations with a parent are inherited. */
  readonly inside: readonly string[]
}

/** How a fork ended. A conversation that has the origin of the plan is `done`: an earlier attempt made it. */
export type ForkOutcome = 'done' | 'missing' | 'exists'

/** Which of the entries that a search finds. */
export interface EntryRange {
  /** Only those with a `position` above it; below it if `descending`. */
  readonly after: number
  readonly limit: number
  /** The highest position first. */
  readonly descending: boolean
}

/** Which gates to read. */
export interface GateQuery {
  readonly conversation?: string
  readonly open: boolean
  /** Only gates that were opened after this one, which may be closed. */
  readonly after?: Pick<GateRow, 'conversation' | 'id'>
  readonly limit: number
}

/** Which grants to read; every member that is given must match. */
export interface GrantListing {
  readonly scope?: string
  readonly tool?: string
  /** The conversation in which they were given. */
  readonly conversation?: string
  /** Only live ones that end after `now`, with this shape and this pattern. */
  readonly live?: { readonly shape: string; readonly pattern: string; readonly now: number }
  /** Only grants that were given after this one. */
  readonly after?: string
  readonly limit: number
}

/** Who asks for a conversation, and for how long. */
export interface AcquireRequest {
  readonly conversation: string
  readonly owner: string
  readonly now: number
  readonly until: number
  readonly force: boolean
  /** Makes the key of a new conversation. An existing conversation keeps its own. */
  readonly newKey: () => Pick<ConversationRow, 'key' | 'keyCheck'>
}

/** Whether the conversation was given, and its row. */
export interface Acquired {
  readonly granted: boolean
  readonly created: boolean
  /** The conversation afterwards, granted or not. */
  readonly row: ConversationRow
}

/** Who may write to a conversation, and until when. */
export type LeaseRow = Pick<ConversationRow, 'id' | 'epoch' | 'leaseUntil'>

/** An append that is complete except for what only the transaction can read. */
export interface AppendPlan {
  /** The entries, redacted and not yet written out. */
  readonly entries: readonly NewEntry[]
  /** Add them unless they are stored already. */
  readonly blobs: readonly BlobRow[]
  /** Ids of the gates that the transaction must read, and lock until it ends. */
  readonly gates: readonly string[]
  /** Ids of the grants that the transaction must read, and lock until it ends. */
  readonly grants: readonly string[]
  /** Whether `prepare` needs the digests after the last seal. */
  readonly seals: boolean
  /** Call it in the transaction, after the check of the epoch. If it throws, roll everything back. */
  prepare(state: AppendState): AppendBatch
}

/** What an append must know of its conversation. */
export interface AppendState {
  readonly row: Pick<ConversationRow, 'length' | 'sealedSeq' | 'seal'>
  /** Reads the whole row with its key; called only if a turn ends. */
  readonly whole: () => ConversationRow
  readonly gates: ReadonlyMap<string, GateRow>
  readonly grants: ReadonlyMap<string, GrantRow>
  /** Digests of the entries after `sealedSeq`, in order; empty unless the plan needs them. */
  readonly unsealed: readonly string[]
}

/** Everything that one append changes. */
export interface AppendBatch {
  readonly entries: readonly EntryRow[]
  /** Added or replaced. */
  readonly gates: readonly GateRow[]
  /** Replaced. */
  readonly grants: readonly GrantRow[]
  readonly references: readonly string[]
  readonly updatedAt: number
  readonly sealedSeq: number
  readonly seal: string
  /** The parent of the conversation, if these are its first entries and it has one. */
  readonly parent?: string
  /** The agent that is active from now on, if these entries say so. */
  readonly agent?: string
}

/** How an append ended. */
export type AppendOutcome =
  /** `seq` is that of the first entry. */
  | { readonly status: 'done'; readonly seq: number }
  | { readonly status: 'missing' }
  | { readonly status: 'stale'; readonly current: number }
  | { readonly status: 'duplicate' }
