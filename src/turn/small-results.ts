import { isBobbinError } from '../core/error.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { SmallText } from '../spool/small-text.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import type { SpoolInput, SpoolStore } from '../spool/spool-store.ts'
import { MAX_BLOB_BYTES, type Store, type StoredBlob } from '../store/store.ts'
import { storedResults } from '../store/stored-results.ts'

/** A spool for one conversation whose small results commit together with their settlements. */
export interface ResultSpool extends Pick<SpoolStore, 'read'> {
  /** Whether these bytes will be found again with the conversation. */
  has(digest: string): Promise<boolean>
  write(data: SpoolInput, options?: { readonly signal?: AbortSignal }): Promise<SpoolReader>
  /** Holds a small text at once, where that takes no waiting. */
  writeNow(text: string): SpoolReader | undefined
  /** What is in a small result that no settlement has committed yet. */
  uncommitted(digest: string): StoredBlob | undefined
  /** Called once for each record that is durable and refers to the bytes. */
  committed(digest: string): void
}

/** How many bytes may wait for their settlements: a handler may write any number that it never returns. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/**
 * Keeps what fits into a blob in memory until its settlement makes it durable, and sends the rest to
 * the spool at once. One transaction then holds both the record and what it refers to.
 */
export function resultSpool(store: Store, spool: SpoolStore): ResultSpool {
  const waiting = new WaitingBlobs()
  const stored = storedResults(store, spool)
  return {
    async write(data, options) {
      const small = waiting.bytes < MAX_WAITING_BYTES ? smallOf(data) : undefined
      if (small === undefined) return spool.write(data, options)
      const reader = await readerOf(small)
      waiting.add(reader.digest, small)
      return reader
    },
    writeNow(text) {
      const small = waiting.bytes < MAX_WAITING_BYTES ? smallOf(text) : undefined
      if (!(small instanceof SmallText)) return undefined
      waiting.add(small.digest, small)
      return small
    },
    async read(digest) {
      const blob = waiting.get(digest)
      return blob === undefined ? stored.read(digest) : readerOf(blob)
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
    uncommitted: (digest) => waiting.get(digest),
    committed: (digest) => waiting.delete(digest),
  }
}

/** A small result that waits, and how often it was written. */
interface Waiting {
  readonly digest: string
  readonly blob: StoredBlob
  writes: number
}

/**
 * The small results that wait, by digest. Calls that write the same wait for each of their settlements: a
 * store that redacts one of them keeps nothing of it.
 */
class WaitingBlobs {
  /** Most of the time there is one, and a map makes a table anew whenever its only entry leaves. */
  #first: Waiting | undefined
  readonly #others = new Map<string, Waiting>()
  bytes = 0

  #find(digest: string): Waiting | undefined {
    if (this.#first?.digest === digest) return this.#first
    // Looking for a text takes its hash, which an empty table need not know.
    return this.#others.size === 0 ? undefined : this.#others.get(digest)
  }

  get(digest: string): StoredBlob | undefined {
    return this.#find(digest)?.blob
  }

  add(digest: string, blob: StoredBlob): void {
    const known = this.#find(digest)
    if (known !== undefined) {
      known.writes++
      return
    }
    this.bytes += blob.byteLength
    const waiting = { digest, blob, writes: 1 }
    if (this.#first === undefined) this.#first = waiting
    else this.#others.set(digest, waiting)
  }

  delete(digest: string): void {
    const known = this.#find(digest)
    if (known === undefined || --known.writes > 0) return
    this.bytes -= known.blob.byteLength
    if (known === this.#first) this.#first = undefined
    else this.#others.delete(digest)
  }
}

const encoder = new TextEncoder()

/** What fits into a blob, or nothing. */
function smallOf(data: SpoolInput): StoredBlob | undefined {
  let bytes: unknown = data
  if (typeof data === 'string') {
    if (data.length > MAX_BLOB_BYTES) return undefined
    const text = SmallText.of(data, MAX_BLOB_BYTES)
    if (text !== undefined) return text
    bytes = encoder.encode(data)
  }
  // A copy: the caller may go on to use its buffer before this one is stored. `slice` of a Node buffer is none.
  if (!(bytes instanceof Uint8Array) || bytes.length > MAX_BLOB_BYTES) return undefined
  return new Uint8Array(bytes)
}

/** A text reads itself; bytes go to a spool of their own, which lives as long as the reader. */
function readerOf(blob: StoredBlob): SpoolReader | Promise<SpoolReader> {
  return blob instanceof SmallText ? blob : memorySpool().write(blob)
}
