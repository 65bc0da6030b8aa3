import { sha256Hex } from '#hash'
import { memorySpool } from '../spool/memory-spool.ts'
import { bytesOf } from '../spool/spool-input.ts'
import type { SpoolInput, SpoolStore } from '../spool/spool-store.ts'
import type { Entry, NewEntry } from './entry.ts'
import { referencesOf } from './entry-references.ts'
import { MAX_BLOB_BYTES, type Store } from './store.ts'

/** How much may wait in memory; beyond it the oldest goes to the spool instead. */
const MAX_STAGED_BYTES = 16 * 1024 * 1024

/** A spool whose small pieces wait to be committed together with the entry that refers to them. */
export interface StagedSpool extends SpoolStore {
  /** Appends entries together with the small pieces that they refer to. */
  append(
    conversation: string,
    epoch: number,
    entries: readonly NewEntry[],
  ): Promise<readonly Entry[]>
}

/**
 * Joins a store's blobs and a spool, for one conversation: what is small is kept for `append`, which
 * makes it durable in the same transaction as its settlement; what is larger goes to the spool at once.
 */
export function stagedSpool(store: Store, spool: SpoolStore): StagedSpool {
  const waiting = new Map<string, Uint8Array>()
  let size = 0

  const stage = async (bytes: Uint8Array) => {
    const digest = sha256Hex(bytes)
    if (waiting.has(digest)) return
    waiting.set(digest, bytes)
    size += bytes.length
    for (const [oldest, content] of waiting) {
      if (size <= MAX_STAGED_BYTES) return
      forget(oldest)
      if ((await store.blob(oldest)) === undefined) await spool.write(content)
    }
  }

  const forget = (digest: string) => {
    size -= waiting.get(digest)?.length ?? 0
    return waiting.delete(digest)
  }

  const small = async (digest: string) => waiting.get(digest) ?? (await store.blob(digest))

  return {
    durable: store.durable && spool.durable,

    async append(conversation, epoch, entries) {
      const digests = [...new Set(entries.flatMap(referencesOf))]
      const blobs = digests.flatMap((digest) => waiting.get(digest) ?? [])
      const stored = await store.append(conversation, epoch, entries, blobs)
      digests.forEach(forget)
      return stored
    },

    async write(data, options = {}) {
      const { head, rest } = await split(data, options.signal)
      if (rest !== undefined) return spool.write(rest, options)
      await stage(head)
      return memorySpool().write(head, options)
    },

    async read(digest) {
      const bytes = await small(digest)
      return bytes === undefined ? spool.read(digest) : memorySpool().write(bytes)
    },

    async delete(digest) {
      return forget(digest) || spool.delete(digest)
    },

    async *digests() {
      yield* [...waiting.keys()]
      yield* store.digests()
      yield* spool.digests()
    },

    sweep: (live, options) => spool.sweep(live, options),
  }
}

/** The whole of what is small, or everything as a stream when there is more. */
async function split(
  data: SpoolInput,
  signal: AbortSignal | undefined,
): Promise<{ readonly head: Uint8Array; readonly rest?: SpoolInput }> {
  signal?.throwIfAborted()
  const head = new Uint8Array(MAX_BLOB_BYTES)
  let filled = 0
  const source = bytesOf(data)
  for (;;) {
    const step = await nextOf(source, signal)
    if (step.done) return { head: head.slice(0, filled) }
    const bytes = step.value
    if (filled + bytes.length > MAX_BLOB_BYTES) {
      const first = head.slice(0, filled)
      return { head: first, rest: joined(first, bytes, source) }
    }
    head.set(bytes, filled)
    filled += bytes.length
  }
}

async function* joined(
  first: Uint8Array,
  second: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.length > 0) yield first
    yield second
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

/** The next chunk, or the signal's reason while a source hangs. */
function nextOf<T>(
  source: AsyncGenerator<T>,
  signal: AbortSignal | undefined,
): Promise<IteratorResult<T>> {
  if (signal === undefined) return source.next()
  return new Promise((resolve, reject) => {
    const abort = () => {
      void source.return(undefined as never).catch(() => undefined)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    source
      .next()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort))
  })
}
