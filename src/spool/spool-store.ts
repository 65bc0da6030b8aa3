import type { SpoolReader } from './spool-reader.ts'

/** What a spool can store: text, bytes, or a stream of either, which is never held in memory as a whole. */
export type SpoolInput =
  | string
  | Uint8Array
  | ReadableStream<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>

/** How long `sweep` leaves alone what was written lately: its record may not be stored yet. */
export const DEFAULT_GRACE_MS = 60 * 60 * 1000

/** Content-addressed storage for artifacts and media; equal bytes are stored once per tenant. */
export interface SpoolStore {
  /** False when the bytes die with the process. A durable record store refuses a volatile spool. */
  readonly durable: boolean
  /** Stores `data` whole or not at all, hashing and indexing while it goes by. */
  write(data: SpoolInput, options?: { readonly signal?: AbortSignal }): Promise<SpoolReader>
  /** Opens what was written under `digest`; `E_SPOOL_NOT_FOUND` when there is nothing. */
  read(digest: string): Promise<SpoolReader>
  /** Removes one spool; false if there is no such spool. */
  delete(digest: string): Promise<boolean>
  /** Every digest the store holds. */
  digests(): AsyncIterable<string>
  /** Deletes what is not in `live` and was last written before the grace period (an hour unless told). */
  sweep(live: ReadonlySet<string>, options?: { readonly graceMs?: number }): Promise<SweepReport>
}

/** What a sweep kept and what it removed. */
export interface SweepReport {
  readonly kept: number
  /** Spools only; leftovers of interrupted writes count in `bytesFreed` alone. */
  readonly deleted: number
  readonly bytesFreed: number
}
