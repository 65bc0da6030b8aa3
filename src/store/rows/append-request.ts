import type { NewEntry } from '../entry.ts'

/** An append as the caller asks for it. */
export interface AppendRequest {
  readonly conversation: string
  readonly epoch: number
  readonly entries: readonly NewEntry[]
  readonly blobs: readonly Uint8Array[]
  /** What imported entries keep. They may also close gates that were not decided in this store. */
  readonly imported?: readonly ImportedStamp[] | undefined
}

/** What an imported entry keeps from the store that it comes from. */
export interface ImportedStamp {
  readonly time: number
  readonly redacted?: readonly string[]
}
