import type { NewEntry } from './entry.ts'
import type { StoredBlob } from './store.ts'

/** An append as the store was asked for it. */
export interface AppendRequest {
  readonly conversation: string
  readonly epoch: number
  readonly entries: readonly NewEntry[]
  readonly blobs: readonly StoredBlob[]
  /** What imported entries bring along; they also may close gates that nobody decided here. */
  readonly imported?: readonly ImportedStamp[] | undefined
}

/** What an entry keeps of its life in another store. */
export interface ImportedStamp {
  readonly time: number
  readonly redacted?: readonly string[]
}
