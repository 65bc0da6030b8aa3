import { sha256Hex } from '#hash'
import type { BlockSource } from '../../spool/indexed-reader.ts'
import { BLOCK_BYTES, type LineIndex, MAX_ENTRIES } from '../../spool/line-index.ts'
import { decodeLineIndex, encodeLineIndex } from '../../spool/line-index-file.ts'
import { spoolCorrupt, spoolNotFound } from '../../spool/spool-errors.ts'
import { wind } from '../../spool/wind.ts'
import type { BlockCache } from '../fs/block-cache.ts'
import type { S3Bucket } from './s3-bucket.ts'
import type { SpoolKeys } from './s3-keys.ts'

/** What a source of stored bytes works with. */
export interface S3SourceParts {
  readonly bucket: S3Bucket
  readonly keys: SpoolKeys
  readonly cache: BlockCache
}

/** The bytes of one stored spool. Each read asks for the blocks it needs, and no more. */
export function s3Source(index: LineIndex, { bucket, keys, cache }: S3SourceParts): BlockSource {
  const { digest, byteLength } = index
  return {
    async block(number) {
      const key = `${digest}:${number}`
      const known = cache.get(key)
      if (known !== undefined) return known
      const start = number * BLOCK_BYTES
      const end = Math.min(byteLength, start + BLOCK_BYTES)
      const block = await bytesOf(bucket, keys, digest, start, end)
      if (sha256Hex(block) !== index.blockHashes[number]) {
        throw spoolCorrupt(digest, `block ${number}`)
      }
      cache.set(key, block)
      return block
    },

    stream: (start, end, { signal }) => stream(bucket, keys, digest, start, end, signal),

    async verify() {
      const size = await sizeOf(bucket, keys, digest)
      const actual = await wind(stream(bucket, keys, digest, 0, size), { put() {} })
      if (actual.digest !== digest) throw spoolCorrupt(digest, 'bytes')
      const stored = await readLines(bucket, keys, digest, byteLength)
      if (stored !== undefined && Buffer.compare(stored, encodeLineIndex(actual)) !== 0) {
        throw spoolCorrupt(digest, 'index')
      }
    },
  }
}

/** The index of a stored spool; it is made anew where none lies beside the bytes, or a damaged one. */
export async function openIndex(
  bucket: S3Bucket,
  keys: SpoolKeys,
  digest: string,
): Promise<LineIndex> {
  const byteLength = await sizeOf(bucket, keys, digest)
  const stored = await readLines(bucket, keys, digest, byteLength)
  const decoded = stored && decodeLineIndex(stored, { digest, byteLength })
  if (decoded?.state === 'sound') return decoded.index
  const index = await wind(stream(bucket, keys, digest, 0, byteLength), { put() {} })
  if (index.digest !== digest) throw spoolCorrupt(digest, 'bytes')
  return index
}

async function sizeOf(bucket: S3Bucket, keys: SpoolKeys, digest: string): Promise<number> {
  const facts = await bucket.head(keys.blob(digest))
  if (facts === undefined) throw spoolNotFound(digest)
  return facts.size
}

async function readLines(bucket: S3Bucket, keys: SpoolKeys, digest: string, byteLength: number) {
  // Something far too large is not an index of these bytes, and not worth the memory.
  const limit = 1024 + MAX_ENTRIES * 8 + Math.ceil(byteLength / BLOCK_BYTES) * 32
  return bucket.get(keys.lines(digest), 0, limit)
}

/** The first request of a stream is small: most readers stop early. */
const FIRST_CHUNK = BLOCK_BYTES
const LAST_CHUNK = 8 * 1024 * 1024

/** Asks for one chunk ahead, so that the network works while the consumer does. */
async function* stream(
  bucket: S3Bucket,
  keys: SpoolKeys,
  digest: string,
  start: number,
  end: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const left = new AbortController()
  const either = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal])
  let at = start
  let length = FIRST_CHUNK
  const next = () => {
    if (at >= end) return undefined
    const from = at
    at = Math.min(end, from + length)
    length = Math.min(LAST_CHUNK, length * 2)
    const chunk = bytesOf(bucket, keys, digest, from, at, either)
    // Awaited below, but perhaps only after the consumer took its time or left.
    chunk.catch(() => undefined)
    return chunk
  }
  try {
    signal?.throwIfAborted()
    for (let chunk = next(); chunk !== undefined; ) {
      const bytes = await chunk
      signal?.throwIfAborted()
      // Not before the first one: it may be all that is asked for.
      chunk = next()
      yield bytes
    }
  } finally {
    left.abort()
  }
}

async function bytesOf(
  bucket: S3Bucket,
  keys: SpoolKeys,
  digest: string,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const bytes = await bucket.get(keys.blob(digest), start, end, 'read', signal)
  if (bytes === undefined) throw spoolNotFound(digest)
  if (bytes.length !== end - start) throw spoolCorrupt(digest, 'length')
  return bytes
}
