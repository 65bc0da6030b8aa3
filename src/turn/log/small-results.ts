import { isBobbinError } from '../../core/error/error.ts'
import { blockReader } from '../../spool/memory-spool.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import type { SpoolInput, SpoolStore } from '../../spool/spool-store.ts'
import { MAX_BLOB_BYTES, type RunnerStore } from '../../store/store.ts'
import { storedResults } from '../../store/stored-results.ts'

/** The spool of one conversation. Its small results are committed together with their settlements. */
export interface ResultSpool extends Pick<SpoolStore, 'read'> {
  /** Whether these bytes will be found again with the conversation. */
  has(digest: string): Promise<boolean>
  write(data: SpoolInput, options?: { readonly signal?: AbortSignal }): Promise<SpoolReader>
  /** The bytes of a small result that no settlement has committed yet. */
  uncommitted(digest: string): Uint8Array | undefined
  /** Called once for each durable record that refers to the bytes. */
  committed(digest: string): void
}

/** How many bytes may wait for their settlements: a handler may write any number that it never returns. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/**
 * Keeps results that fit into a blob in memory until their settlement makes them durable, and sends larger ones to the
 * spool at once. One transaction then holds both the record and its result.
 */
export function resultSpool(store: RunnerStore, spool: SpoolStore): ResultSpool {
  const waiting = new WaitingResults()
  const stored = storedResults(store, spool)
  return {
    async write(data, options) {
      const small = waiting.byteLength < MAX_WAITING_BYTES ? smallResult(data) : undefined
      if (small === undefined) return spool.write(data, options)
      waiting.add(small)
      return small.reader
    },
    async read(digest) {
      return waiting.get(digest)?.reader ?? stored.read(digest)
    },
    async has(digest) {
      if (waiting.get(digest) !== undefined || (await store.blob(digest)) !== undefined) return true
      try {
        return (await spool.read(digest)).digest === digest
      } catch (error) {
        if (isBobbinError(error, 'E_SPOOL_NOT_FOUND')) return false
        throw error
      }
    },
    uncommitted: (digest) => waiting.get(digest)?.bytes,
    committed: (digest) => waiting.delete(digest),
  }
}

/** A result that fits into a blob. */
interface SmallResult {
  readonly reader: SpoolReader
  readonly bytes: Uint8Array
}

/**
 * The small results that wait, by digest, and how often each was written. Calls with the same result wait for each of
 * their settlements: a store that redacts one of them keeps nothing of it.
 */
class WaitingResults {
  readonly #waiting = new Map<string, SmallResult & { writes: number }>()
  byteLength = 0

  get(digest: string): SmallResult | undefined {
    return this.#waiting.get(digest)
  }

  add(small: SmallResult): void {
    const { digest, byteLength } = small.reader
    const known = this.#waiting.get(digest)
    if (known !== undefined) known.writes++
    else {
      this.byteLength += byteLength
      this.#waiting.set(digest, { writes: 1, ...small })
    }
  }

  delete(digest: string): void {
    const known = this.#waiting.get(digest)
    if (known === undefined || --known.writes > 0) return
    this.byteLength -= known.reader.byteLength
    this.#waiting.delete(digest)
  }
}

/** The data, if it fits into a blob. */
function smallResult(data: SpoolInput): SmallResult | undefined {
  const bytes = smallBytes(data)
  return bytes && bytes.length <= MAX_BLOB_BYTES ? { reader: blockReader(bytes), bytes } : undefined
}

function smallBytes(data: SpoolInput): Uint8Array | undefined {
  // A text has at least as many bytes as characters: a long one need not be encoded.
  if (typeof data === 'string') {
    return data.length <= MAX_BLOB_BYTES ? encoder.encode(data) : undefined
  }
  if (!(data instanceof Uint8Array) || data.length > MAX_BLOB_BYTES) return undefined
  // A copy: the caller may reuse its buffer before this one is stored. `slice` of a Node buffer does not copy.
  return new Uint8Array(data)
}

const encoder = new TextEncoder()
