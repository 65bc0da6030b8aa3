import type { TrustTier } from '../core/trust.ts'
import type { HistoryItem } from '../records/history-item.ts'
import type { SpoolStore } from '../spool/spool-store.ts'

/** Where to fork a conversation, and what to call the fork. */
export interface ForkOptions {
  /** The name of the new conversation; a random one unless given. */
  readonly to?: string
  /**
   * The last thing that the fork shall have: a turn with all turns that continue it, or a position of the feed. The end
   * unless given.
   */
  readonly after?: { readonly turnId: string } | { readonly position: string }
  /** Gives the key of a conversation, where the application derives keys from a secret: see `conversationKey`. */
  readonly key?: (conversation: string) => Uint8Array
}

/** A history that began elsewhere, and how far it is trusted. */
export interface SeedOptions {
  /** The name of the new conversation; a random one unless given. */
  readonly conversation?: string
  /** As `wire(api).decode` gives them. */
  readonly items: Iterable<HistoryItem>
  /** How far the history is trusted; `third-party` unless given. */
  readonly trust?: TrustTier
  /** Where larger bytes go; the store's own spool unless given. */
  readonly spool?: SpoolStore
  /** The key of the new conversation; see `acquire`. */
  readonly key?: Uint8Array
}

/** The stored part of a history. */
export interface SeedReport {
  readonly conversation: string
  readonly entries: number
  /** The changes and omissions. */
  readonly repairs: readonly SeedRepair[]
}

/** A place where a history was changed. */
export interface SeedRepair {
  readonly kind: 'missing-result' | 'stray-result' | 'left-out'
  /** The id of the call, or the type of the item. */
  readonly item: string
  readonly message: string
}
