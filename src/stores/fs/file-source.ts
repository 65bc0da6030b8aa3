import { sha256Hex } from '#hash'
import type { BlockSource } from '../../spool/indexed-reader.ts'
import { BLOCK_BYTES, type LineIndex, MAX_ENTRIES } from '../../spool/line-index.ts'
import { decodeLineIndex, encodeLineIndex, type StoredIndex } from '../../spool/line-index-file.ts'
import { spoolCorrupt, spoolNotFound } from '../../spool/spool-errors.ts'
import { wind } from '../../spool/wind.ts'
import type { BlockCache } from './block-cache.ts'
import type { FileFacts, FileSystem } from './file-system.ts'
import type { SpoolFolder } from './spool-folder.ts'

/** What a source of stored bytes works with. */
export interface FileSourceParts {
  /** A file system whose errors are typed for reading. */
  readonly fs: FileSystem
  readonly folder: SpoolFolder
  readonly cache: BlockCache
}

/** The bytes of one stored spool. Files are opened per read: a reader holds no descriptor. */
export function fileSource(index: LineIndex, { fs, folder, cache }: FileSourceParts): BlockSource {
  const { digest, byteLength } = index
  const path = folder.blob(digest)
  return {
    async block(number) {
      const { version } = await blobFacts(fs, folder, digest)
      const key = `${digest}:${number}:${version}`
      const known = cache.get(key)
      if (known !== undefined) return known
      const start = number * BLOCK_BYTES
      const block = new Uint8Array(Math.min(BLOCK_BYTES, byteLength - start))
      const file = await fs.openForReading(path)
      try {
        const filled = await file.read(block, start)
        const sound = filled === block.length && sha256Hex(block) === index.blockHashes[number]
        if (!sound) throw spoolCorrupt(digest, `block ${number}`)
      } finally {
        await file.close()
      }
      cache.set(key, block)
      return block
    },

    async *stream(start, end, range) {
      await blobFacts(fs, folder, digest)
      yield* streamFile(fs, path, start, end, {
        ...range,
        onShort: () => spoolCorrupt(digest, 'length'),
      })
    },

    async verify() {
      const facts = await blobFacts(fs, folder, digest)
      const actual = await indexOfFile(fs, path, facts.size)
      if (actual.digest !== digest) throw spoolCorrupt(digest, 'bytes')
      const stored = await readIndexFile(fs, folder, digest, byteLength)
      if (stored === undefined) return
      const expected = encodeLineIndex(actual)
      if (!sameBytes(stored, expected)) throw spoolCorrupt(digest, 'index')
    },
  }
}

/** The facts of a stored blob, or `E_SPOOL_NOT_FOUND`. A symbolic link does not count as a blob. */
export async function blobFacts(
  fs: FileSystem,
  folder: SpoolFolder,
  digest: string,
): Promise<FileFacts> {
  const facts = await fs.facts(folder.blob(digest))
  if (facts?.kind !== 'file') throw spoolNotFound(digest)
  return facts
}

/** The index stored beside a blob; undefined if it does not exist. */
export async function storedIndex(
  fs: FileSystem,
  folder: SpoolFolder,
  digest: string,
  byteLength: number,
): Promise<StoredIndex | undefined> {
  const bytes = await readIndexFile(fs, folder, digest, byteLength)
  return bytes && decodeLineIndex(bytes, { digest, byteLength })
}

/** Builds the index of a file anew by reading all of it. */
export function indexOfFile(fs: FileSystem, path: string, size: number): Promise<LineIndex> {
  return wind(streamFile(fs, path, 0, size, { borrow: true }), { put() {} })
}

async function readIndexFile(
  fs: FileSystem,
  folder: SpoolFolder,
  digest: string,
  byteLength: number,
): Promise<Uint8Array | undefined> {
  const path = folder.lines(digest)
  const facts = await fs.facts(path)
  if (facts?.kind !== 'file') return undefined
  // A file far too large cannot be an index of this blob, and is not worth the memory.
  const limit = 1024 + MAX_ENTRIES * 8 + Math.ceil(byteLength / BLOCK_BYTES) * 32
  const bytes = new Uint8Array(Math.min(facts.size, limit))
  const file = await fs.openForReading(path)
  try {
    const filled = await file.read(bytes, 0)
    return bytes.subarray(0, filled)
  } finally {
    await file.close()
  }
}

interface FileStream {
  readonly signal?: AbortSignal
  readonly borrow?: boolean
  /** Makes the error for a file that ends too early. */
  onShort?(): Error
}

const CHUNK_BYTES = 1024 * 1024
/** Chunks on their way while one is looked at: with a single one, each would wait for a thread to wake up. */
const AHEAD = 2

/** Reads ahead, so that the disk works while the consumer does. */
async function* streamFile(
  fs: FileSystem,
  path: string,
  start: number,
  end: number,
  { signal, borrow = false, onShort }: FileStream = {},
): AsyncGenerator<Uint8Array> {
  if (start >= end) return
  signal?.throwIfAborted()
  const file = await fs.openForReading(path)
  const size = Math.min(CHUNK_BYTES, end - start)
  // Buffers take turns when the consumer only borrows them: one to look at, the others to be filled.
  const spare: Uint8Array[] = []
  let turn = 0
  const bufferFor = (length: number) => {
    if (!borrow) return new Uint8Array(length)
    const slot = turn++ % (AHEAD + 1)
    spare[slot] ??= new Uint8Array(size)
    return spare[slot].subarray(0, length)
  }
  const readAt = (position: number) => {
    const target = bufferFor(Math.min(size, end - position))
    const reading = file.read(target, position).then((filled) => target.subarray(0, filled))
    // Awaited below, but perhaps only after the consumer took its time or left.
    reading.catch(() => undefined)
    return reading
  }
  const ahead: Promise<Uint8Array>[] = []
  let next = start
  const readAhead = () => {
    for (; ahead.length < AHEAD && next < end; next += size) ahead.push(readAt(next))
  }
  try {
    for (let at = start; at < end; ) {
      readAhead()
      const chunk = await (ahead.shift() as Promise<Uint8Array>)
      signal?.throwIfAborted()
      const isShort = chunk.length < Math.min(size, end - at)
      if (isShort && onShort) throw onShort()
      if (chunk.length === 0) return
      at += chunk.length
      readAhead()
      yield chunk
      if (isShort) return
    }
  } finally {
    await Promise.allSettled(ahead)
    await file.close()
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}
