import type { JsonObject, PlainObject } from '../core/json/json.ts'
import type { TrustTier } from '../core/trust.ts'
import type { Message } from '../records/message.ts'
import type { Thought } from '../records/thought.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import type { ForkOptions, SeedOptions, SeedReport } from './branches.ts'
import type { Entry, EntryKind, EntryOf, NewEntry } from './entry.ts'
import type { FeedDriver } from './feed-driver.ts'
import type { Gate, NewGateDecision } from './gate.ts'
import type { CoverQuery, Grant, GrantQuery } from './grant.ts'

/** Results up to this size commit together with their settlement; larger ones go to the spool. */
export const MAX_BLOB_BYTES = 64 * 1024

/** Lease length without renewal. Only the epoch protects the log; the lease says when it is free. */
export const DEFAULT_LEASE_MS = 30_000

/**
 * What a runner needs of a store: append-only conversations with fencing, gates and small blobs. When a method resolves,
 * its change is durable if `durable` is true. When it rejects, nothing has changed.
 */
export interface RunnerStore {
  /** False if everything is lost when the process ends. */
  readonly durable: boolean
  /** Where larger bytes belong, when the store brings its own. */
  readonly spool?: SpoolStore
  /** How processes reach the turns of each other. A store without it is polled, and its turns are stopped in their own process only. */
  readonly feed?: FeedDriver

  /**
   * Takes a conversation, so that this runner alone may write to it, and makes it if it does not exist. Rejects
   * with `E_CONVERSATION_BUSY` while the lease of another holder runs. Earlier epochs cannot write any more.
   */
  acquire(conversation: string, options: AcquireOptions): Promise<Lease>
  /** Prolongs the lease; `E_STALE_RUNNER` if another holder has taken the conversation. */
  renew(conversation: string, epoch: number, leaseMs?: number): Promise<Lease>
  /** Ends the lease at once; does nothing if another holder has taken the conversation. */
  release(conversation: string, epoch: number): Promise<void>

  /**
   * Adds all entries and blobs in one transaction, or none of them. Rejects with `E_STALE_RUNNER` for an old
   * epoch, `E_DUPLICATE_ENTRY` for an id that the conversation has under that kind, and `E_GATE_STATE` if a
   * gate cannot be closed that way. The data of an entry is plain JSON or a record with a `toJSON`; write both
   * with `JSON.stringify`, because a structured clone loses the fields of a record.
   */
  append(
    conversation: string,
    epoch: number,
    entries: readonly NewEntry[],
    blobs?: readonly Uint8Array[],
  ): Promise<Appended>

  /** The log in order, read in pages; `from` is the first `seq` wanted. */
  entries(conversation: string, options?: { readonly from?: number }): AsyncIterable<Entry>
  /** One entry by the id of what it holds; a turn's id for `turn-start`. */
  get<K extends EntryKind>(
    conversation: string,
    kind: K,
    id: string,
  ): Promise<EntryOf<K> | undefined>
  /** A page of entries in the order in which they were added, or in the opposite one. */
  find(query: EntryQuery): Promise<EntryPage>
  /** A page of conversations in the order of their ids, by code point. */
  conversations(page?: {
    readonly after?: string
    readonly limit?: number
  }): Promise<readonly ConversationInfo[]>
  /** One conversation, without touching it. */
  conversation(id: string): Promise<ConversationInfo | undefined>
  /** The 32 bytes from which nonces, seals and minted ids derive. Never export them. */
  key(conversation: string): Promise<Uint8Array>

  gate(conversation: string, id: string): Promise<Gate | undefined>
  /**
   * Gates that wait for a decision or for their use, of one conversation or of all, in the order in which they
   * were opened; a page of at most 1,000. In the list of all, the gate of a turn inside a call is there once: as the
   * gate of the outermost turn that waits for it.
   */
  openGates(conversation?: string, page?: GatePage): Promise<readonly Gate[]>
  /**
   * Decides a pending gate by compare-and-set, from any process, without an epoch. Rejects with `E_GATE_STATE` if
   * it is already decided, closed or expired, or has another digest, and with `E_NOT_FOUND` if it does not exist. The
   * gate of a turn inside a call and its copies in the conversations around it are decided together.
   */
  decideGate(conversation: string, id: string, decision: NewGateDecision): Promise<Gate>

  /**
   * The standing approval that covers a call which waits for one, if there is one. The append with the call's intent uses it,
   * or rejects with `E_GRANT_STATE`. A store without this has no grants.
   */
  grantFor?(call: CoverQuery): Promise<Grant | undefined>

  /** The bytes of a small result. */
  blob(digest: string): Promise<Uint8Array | undefined>
  /**
   * Removes a conversation, those of turns inside its calls that no fork has, their gates, keys, the grants that were given in
   * them, and the blobs that no other refers to. Gives false if it did not exist. `sweepSpool` deletes the bytes on the spool that
   * only it used.
   */
  delete(conversation: string): Promise<boolean>
}

/** A store with everything that an application asks for besides its runners. */
export interface Store extends RunnerStore {
  grantFor(call: CoverQuery): Promise<Grant | undefined>
  /** Standing approvals in the order in which they were given, revoked and used-up ones too; a page of at most 1,000. */
  grants(query?: GrantQuery): Promise<readonly Grant[]>
  /** Ends a standing approval at once, from any process. Rejects with `E_NOT_FOUND` if it does not exist. */
  revokeGrant(id: string, by: { readonly decidedBy: string }): Promise<Grant>
  /** How many entries `find` would give in all. */
  count(query: EntryFilter): Promise<number>
  /** A page of conversations; in the order of their ids, by code point, unless `orderBy` says otherwise. */
  conversations(query?: ConversationQuery): Promise<readonly ConversationInfo[]>
  /**
   * Changes what the application says about a conversation: members of the patch replace those of the same name, `null`
   * removes one. Needs no lease and leaves `updatedAt` as it is. No seal covers metadata, and `redact` is not asked. At most
   * 64 members and 16 KB of JSON.
   */
  setMeta(conversation: string, patch: PlainObject): Promise<ConversationInfo>
  /**
   * A page of what was said and done, as records, oldest first: messages, thoughts and settled calls. The newest page costs
   * the same in a long conversation as in a short one.
   */
  history(query: HistoryQuery): Promise<HistoryPage>
  /**
   * Stores a history that began elsewhere as a new conversation. Calls without a result are in doubt; what no protocol but one
   * knows, and system messages, are left out. `seed` of `bobbin-adk/wire` does it with the payload of any protocol.
   */
  seed(options: SeedOptions): Promise<SeedReport>
  /**
   * Copies the beginning of a conversation into a new one, with its records, results, metadata and what providers keep in it.
   * It is cut back to where every call is settled: open calls and gates stay with the original, which does not change. The fork
   * has a key and seals of its own, and the original's envelopes.
   */
  fork(from: string, options?: ForkOptions): Promise<ConversationInfo>
  /**
   * The key of the nonces of envelopes: derived from the key of the conversation, or in a fork the one of its origin. `key` is
   * the conversation's, where the store does not hold it. Never export it.
   */
  envelopeKey(conversation: string, key?: Uint8Array): Promise<Uint8Array>
  /** Every digest, in blobs or on the spool, that stored records refer to: the live set of a sweep. */
  digests(conversation?: string): AsyncIterable<string>

  /** Finds edits, deletions, insertions and reordering in records, gates, blobs and spooled bytes. */
  verify(options: VerifyOptions): Promise<VerifyReport>
  /**
   * The conversation as JSON Lines, one string per line without its line break, artifacts included.
   * Keys, opaque provider state and providers' own items are left out.
   */
  export(conversation: string, options?: { readonly spool?: SpoolStore }): AsyncIterable<string>
  /** Reads an export into a new conversation, with a new key and new seals. All of it or nothing is stored. */
  import(
    lines: AsyncIterable<string> | Iterable<string>,
    options?: ImportOptions,
  ): Promise<ImportReport>
  /** Frees files and connections; the store cannot be used afterwards. */
  close(): Promise<void>
}

/** Which page of open gates to read. */
export interface GatePage {
  /** The last gate of the previous page, even if it was closed meanwhile; its id is enough if a conversation is given. */
  readonly after?: string | Pick<Gate, 'conversation' | 'id'>
  /** 1,000 unless given. */
  readonly limit?: number
}

/** Where and when an append was stored. */
export interface Appended {
  /** The `seq` of its first entry; the others follow without gaps. */
  readonly seq: number
  /** Epoch milliseconds, by the store's clock: the `time` of its entries. */
  readonly time: number
}

/** How to take a conversation: as whom, for how long, and whether by force. */
export interface AcquireOptions {
  /** Names the holder in messages: host, process, whatever helps an operator. */
  readonly owner: string
  readonly leaseMs?: number
  /**
   * Takes over although the other lease still runs, as after a crash that is known. The log stays safe;
   * handlers that still run elsewhere are not stopped by it.
   */
  readonly force?: boolean
  /**
   * The conversation's key, when the application derives it from a secret of its own. It is then held in
   * memory only, and has to be given each time; a random one is made and stored otherwise.
   */
  readonly key?: Uint8Array
}

/** The right to be the one runner of a conversation, for a time. */
export interface Lease {
  readonly conversation: string
  readonly epoch: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** True when this `acquire` made the conversation. */
  readonly created: boolean
  /** In a fork, the key of its envelopes: its origin's. Other conversations derive it from their key. */
  readonly envelopeKey?: Uint8Array
}

/** What a store knows of a conversation without reading its log. */
export interface ConversationInfo {
  readonly id: string
  readonly createdAt: number
  readonly updatedAt: number
  /** How many entries the log has. */
  readonly length: number
  readonly epoch: number
  /** Who holds it, while the lease runs. */
  readonly holder?: {
    readonly owner: string
    readonly expiresAt: number
  }
  /** The active agent, where a runner with several agents has used it. */
  readonly agent?: string
  /** The seal of the last turn that ended: keep it elsewhere, and `verify` sees lost turns too. */
  readonly seal?: string
  /** What `setMeta` said about it; absent if nothing. */
  readonly meta?: JsonObject
  /** In a fork, the conversation that it comes from, and how many entries it has from there. */
  readonly origin?: { readonly conversation: string; readonly length: number }
}

/** Which conversations to list, and in which order. */
export interface ConversationQuery {
  /** `id` unless given. Equal times are ordered by id. */
  readonly orderBy?: 'id' | 'createdAt' | 'updatedAt'
  /** Last first. */
  readonly descending?: boolean
  /** What the id begins with. */
  readonly prefix?: string
  /** Leaves out the conversations of turns that ran inside calls. */
  readonly topLevel?: boolean
  /** Members that the metadata must have, each with an equal value. */
  readonly meta?: PlainObject
  /** The last conversation of the page before; in the order of ids, its id is enough. */
  readonly after?: ConversationInfo | string
  /** 100 unless given, at most 1,000. */
  readonly limit?: number
}

/** Which page of the records of a conversation. */
export interface HistoryQuery {
  readonly conversation: string
  /** `before` of another page, or the position of a feed event; the newest page unless given. */
  readonly before?: string
  /** How many records a page has; 50 unless given, at most 1,000. */
  readonly limit?: number
  /** Where larger bytes are; the store's own spool unless given. */
  readonly spool?: SpoolStore
  /** Artifact classes of the application, so that stored results become instances of them again. */
  readonly artifacts?: readonly SpooledArtifactConstructor[]
}

/** One page of the records of a conversation. */
export interface HistoryPage {
  /** In the order in which they were stored, oldest first. */
  readonly items: readonly (Message | Thought | ToolCall)[]
  /** Pass it as `before` to get the page before this one; absent on the page that holds the first record. */
  readonly before?: string
}

/** Which entries are meant; every member that is given must match. */
export interface EntryFilter {
  readonly conversation?: string
  readonly turnId?: string
  readonly kind?: EntryKind
  readonly id?: string
  /** Of intents and settlements. */
  readonly checksum?: string
  /** Of intents and settlements. */
  readonly tool?: string
  /** How a call ended. */
  readonly settlement?: string
  /** Epoch milliseconds, inclusive. */
  readonly since?: number
  /** Epoch milliseconds, exclusive. */
  readonly until?: number
}

/** A filter, and which page of what it finds. */
export interface EntryQuery extends EntryFilter {
  /** 100 unless given, at most 1,000. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
  /** Last first. */
  readonly descending?: boolean
}

/** One page of the entries that a query found. */
export interface EntryPage {
  readonly entries: readonly FoundEntry[]
  /** Pass it as `after` to get the next page; absent on the last page. */
  readonly next?: string
}

/** An entry that a query found, and its conversation. */
export interface FoundEntry {
  readonly conversation: string
  readonly entry: Entry
}

/** The name of an imported conversation, and how far its results are trusted. */
export interface ImportOptions {
  /** The name of the new conversation; its old one unless given. */
  readonly conversation?: string
  /** Where larger bytes go; the store's own spool unless given. */
  readonly spool?: SpoolStore
  /** The most that imported results are trusted, whatever the file says; `third-party` unless given. */
  readonly trust?: TrustTier
  /** The key of the new conversation; see `acquire`. */
  readonly key?: Uint8Array
}

/** What an import stored. */
export interface ImportReport {
  readonly conversation: string
  readonly entries: number
  readonly artifacts: number
}

/** What to verify, and against which seals that were kept elsewhere. */
export interface VerifyOptions {
  readonly conversation: string
  /** Seals kept outside the store, oldest first: each must still be there, in this order. */
  readonly seals?: readonly string[]
  /** The key, where the store does not hold it. */
  readonly key?: Uint8Array
  /** Where larger bytes are; the store's own spool unless given. */
  readonly spool?: SpoolStore
  /** Also checks the bytes of artifacts and media; true by default. */
  readonly artifacts?: boolean
}

/** What `verify` looked at, and what it found. */
export interface VerifyReport {
  readonly ok: boolean
  /** At most 1,000; `truncated` says that there are more. */
  readonly faults: readonly VerifyFault[]
  readonly truncated: boolean
  readonly entries: number
  /** How many entries a seal covers. Those after the last turn's end are checked one by one only. */
  readonly sealed: number
}

/** One difference from what was stored, and where it is. */
export interface VerifyFault {
  /** The kind of damage. */
  readonly fault: 'edited' | 'deleted' | 'inserted' | 'reordered' | 'unreadable' | 'seal-missing'
  readonly part: 'entry' | 'seal' | 'gate' | 'grant' | 'blob' | 'spool' | 'conversation'
  readonly seq?: number
  /** A gate's id, a grant's id or a digest. */
  readonly id?: string
  readonly message: string
}
