import { BobbinError, isBobbinError } from '../core/error.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import type { SpoolInput, SpoolStore } from '../spool/spool-store.ts'
import { MAX_BLOB_BYTES, type Store } from '../store/store.ts'

/** A spool for one conversation whose small results commit together with their settlements. */
export interface ResultSpool extends Pick<SpoolStore, 'read'> {
  /** Whether these bytes will be found again with the conversation. */
  has(digest: string): Promise<boolean>
  write(data: SpoolInput, options?: { readonly signal?: AbortSignal }): Promise<SpoolReader>
  /** The bytes of a small result that no settlement has committed yet. */
  uncommitted(digest: string): Uint8Array | undefined
  /** Called once the bytes are durable. */
  committed(digest: string): void
}

/**
 * Keeps what fits into a blob in memory until its settlement makes it durable, and sends the rest to
 * the spool at once. One transaction then holds both the record and what it refers to.
 */
export function resultSpool(store: Store, spool: SpoolStore): ResultSpool {
  const small = memorySpool()
  const waiting = new Map<string, Uint8Array>()
  const encoder = new TextEncoder()
  return {
    async write(data, options) {
      const bytes =
        typeof data === 'string' && data.length <= MAX_BLOB_BYTES ? encoder.encode(data) : data
      if (!(bytes instanceof Uint8Array) || bytes.length > MAX_BLOB_BYTES) {
        return spool.write(data, options)
      }
      const reader = await small.write(bytes)
      waiting.set(reader.digest, bytes)
      return reader
    },
    async read(digest) {
      const bytes = waiting.get(digest) ?? (await store.blob(digest))
      if (bytes === undefined) return spool.read(digest)
      const reader = await small.write(bytes)
      if (reader.digest === digest) return reader
      const message = `The stored result \`${digest}\` is not what was written: run \`verify\` on the store.`
      throw new BobbinError('E_SPOOL_CORRUPT', message, { digest, part: 'blob' })
    },
    async has(digest) {
      if (waiting.has(digest) || (await store.blob(digest)) !== undefined) return true
      try {
        return (await spool.read(digest)).digest === digest
      } catch (error) {
        if (isBobbinError(error, 'E_SPOOL_NOT_FOUND')) return false
        throw error
      }
    },
    uncommitted: (digest) => waiting.get(digest),
    committed: (digest) => void waiting.delete(digest),
  }
}
