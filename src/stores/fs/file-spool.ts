import { type Clock, systemClock } from '../../core/clock.ts'
import { requireOptions } from '../../core/error/wrong-input.ts'
import { type IdSource, randomId } from '../../core/ids.ts'
import { assertDigest } from '../../spool/digest-name.ts'
import { indexedReader } from '../../spool/indexed-reader.ts'
import type { LineIndex } from '../../spool/line-index.ts'
import { spoolCorrupt, spoolNotFound } from '../../spool/spool-errors.ts'
import { assertGrace, assertLive, assertQuota } from '../../spool/spool-settings.ts'
import { DEFAULT_GRACE_MS, type SpoolStore } from '../../spool/spool-store.ts'
import { holdErrors } from '../../spool/unread-stream.ts'
import { blockCache } from './block-cache.ts'
import { blobFacts, fileSource, indexOfFile, storedIndex } from './file-source.ts'
import { type FileSystem, nodeFileSystem } from './file-system.ts'
import { commitSpool, saveIndex, stageSpool } from './file-write.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { quotaOf } from './quota.ts'
import { folderExists, spoolFolder } from './spool-folder.ts'
import { storedSpools, sweepFolder } from './sweep.ts'
import { forReading, forWriting } from './typed-file-system.ts'

/** How a file spool is bounded, and whom it belongs to. */
export interface FileSpoolOptions {
  /** Whose spools these are; tenants share a folder and nothing else. */
  readonly tenant?: string
  /**
   * The most bytes of content this tenant may store; a write that would exceed it is refused. Each store counts what
   * is there at its first write and what it writes itself: it does not see what another process writes meanwhile.
   */
  readonly quotaBytes?: number
  readonly clock?: Clock
  readonly newId?: IdSource
  readonly fileSystem?: FileSystem
}

const OPTIONS = ['tenant', 'quotaBytes', 'clock', 'newId', 'fileSystem']

/** How many verified blocks a store keeps at hand: 2 MB. */
const CACHED_BLOCKS = 8

/** A durable, content-addressed spool store in a folder; made on the first write. */
export function fileSpool(path: string, options: FileSpoolOptions = {}): SpoolStore {
  requireOptions('fileSpool', options, OPTIONS)
  const { clock = systemClock, newId = randomId, fileSystem = nodeFileSystem } = options
  const folder = spoolFolder(path, options.tenant)
  const disk = forWriting(fileSystem)
  const reading = { fs: forReading(fileSystem), folder, cache: blockCache(CACHED_BLOCKS) }
  const limit = options.quotaBytes === undefined ? undefined : assertQuota(options.quotaBytes)
  // Commits, removals and counts take turns, so that none of them sees another half done.
  const inTurn = oneAtATime()
  const quota = quotaOf(limit, () => storedSpools(reading.fs, folder), inTurn)
  /** The ids of writes that are not over. */
  const underWay = new Set<string>()
  const readerOf = (index: LineIndex) => indexedReader(index, fileSource(index, reading))

  const openIndex = async (digest: string): Promise<LineIndex> => {
    const { size } = await blobFacts(reading.fs, folder, digest)
    const stored = await storedIndex(reading.fs, folder, digest, size)
    if (stored?.state === 'sound') return stored.index
    const index = await indexOfFile(reading.fs, folder.blob(digest), size)
    if (index.digest !== digest) throw spoolCorrupt(digest, 'bytes')
    // A damaged index is kept: it is evidence, and `verify` must still report it.
    if (stored?.state !== 'damaged') await saveIndex(disk, folder, index, newId()).catch(() => {})
    return index
  }

  return {
    durable: true,

    async write(data, how) {
      const signal = how?.signal
      // A folder has to be there before the first byte is asked for.
      holdErrors(data)
      const reservation = await quota.reserve()
      const id = newId()
      underWay.add(id)
      try {
        const staged = await stageSpool(disk, folder, data, {
          id,
          now: () => clock.now(),
          reserve: (bytes) => reservation.add(bytes),
          ...(signal && { signal }),
        })
        await inTurn(() =>
          commitSpool(disk, folder, staged, (replaced) => reservation.settle(replaced)),
        )
        return readerOf(staged.index)
      } finally {
        reservation.release()
        underWay.delete(id)
      }
    },

    async read(digest) {
      assertDigest(digest)
      const { fs } = reading
      const there =
        (await folderExists(fs, folder.tenant)) && (await folderExists(fs, folder.shard(digest)))
      if (!there) throw spoolNotFound(digest)
      return readerOf(await openIndex(digest))
    },

    async delete(digest) {
      assertDigest(digest)
      return inTurn(async () => {
        const there =
          (await folderExists(disk, folder.tenant)) &&
          (await folderExists(disk, folder.shard(digest)))
        const facts = there ? await disk.facts(folder.blob(digest)) : undefined
        if (facts?.kind !== 'file') return false
        await disk.remove(folder.blob(digest))
        quota.free(facts.size)
        await disk.remove(folder.lines(digest))
        await disk.syncFolder(folder.shard(digest))
        return true
      })
    },

    async *digests() {
      for await (const { digest } of storedSpools(reading.fs, folder)) yield digest
    },

    async sweep(live, { graceMs = DEFAULT_GRACE_MS } = {}) {
      assertLive(live)
      return sweepFolder(disk, folder, {
        live,
        olderThan: clock.now() - assertGrace(graceMs),
        newId,
        inTurn,
        onDeleted: (size) => quota.free(size),
        isUnderWay: (name) => underWay.has(name.slice(0, name.lastIndexOf('.'))),
      })
    },
  }
}
