import { join } from 'node:path'
import type { LineIndex } from '../../spool/line-index.ts'
import { encodeLineIndex } from '../../spool/line-index-file.ts'
import type { SpoolInput } from '../../spool/spool-store.ts'
import { wind } from '../../spool/wind.ts'
import type { FileSystem, OpenFile } from './file-system.ts'
import { ensureFolder, ensureRoot, type SpoolFolder } from './spool-folder.ts'

/** A whole, synced spool under temporary names. */
export interface StagedSpool {
  readonly index: LineIndex
  readonly blob: string
  readonly lines: string
}

/** What a write needs beside its data. */
export interface Staging {
  /** Unguessable: it names the temporary files. */
  readonly id: string
  /** The time at which the content counts as written: asked when it is whole, for a source may take hours. */
  now(): number
  readonly signal?: AbortSignal
  /** Throws if the quota has no room for `bytes` more. */
  reserve(bytes: number): void
}

/** Writes `data` to temporary files and syncs them; leaves none behind when that fails. */
export async function stageSpool(
  fs: FileSystem,
  folder: SpoolFolder,
  data: SpoolInput,
  { id, now, signal, reserve }: Staging,
): Promise<StagedSpool> {
  await ensureTemporary(fs, folder)
  const blob = join(folder.temporary, `${id}.blob`)
  const lines = join(folder.temporary, `${id}.lines`)
  try {
    const index = await writeFile(fs, blob, async (file) => {
      const written = await wind(data, {
        ...(signal && { signal }),
        async put(block) {
          reserve(block.length)
          await file.append(block)
        },
      })
      await file.setTime(now())
      return written
    })
    await writeFile(fs, lines, (file) => file.append(encodeLineIndex(index)))
    return { index, blob, lines }
  } catch (error) {
    await discard(fs, [blob, lines])
    throw error
  }
}

/**
 * Moves a staged spool to its place. The blob goes last: a spool exists once its blob does, and a blob
 * is complete by then. Equal content is replaced: this repairs a damaged copy and renews its time.
 */
export async function commitSpool(
  fs: FileSystem,
  folder: SpoolFolder,
  { index, blob, lines }: StagedSpool,
  settle: (replaced: number) => void,
): Promise<void> {
  const { digest } = index
  try {
    await ensureFolder(fs, folder.shard(digest), folder)
    const known = await fs.facts(folder.blob(digest))
    await fs.rename(lines, folder.lines(digest))
    await fs.rename(blob, folder.blob(digest))
    settle(known?.kind === 'file' ? known.size : 0)
  } catch (error) {
    await discard(fs, [blob, lines])
    throw error
  }
  await fs.syncFolder(folder.shard(digest))
}

/** Writes the index of a stored blob beside it, for the next time. */
export async function saveIndex(
  fs: FileSystem,
  folder: SpoolFolder,
  index: LineIndex,
  id: string,
): Promise<void> {
  await ensureTemporary(fs, folder)
  const lines = join(folder.temporary, `${id}.lines`)
  try {
    await writeFile(fs, lines, (file) => file.append(encodeLineIndex(index)))
    await fs.rename(lines, folder.lines(index.digest))
  } catch (error) {
    await discard(fs, [lines])
    throw error
  }
}

async function ensureTemporary(fs: FileSystem, folder: SpoolFolder): Promise<void> {
  await ensureRoot(fs, folder)
  await ensureFolder(fs, folder.tenant, folder)
  await ensureFolder(fs, folder.temporary, folder)
}

async function writeFile<T>(
  fs: FileSystem,
  path: string,
  fill: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await fs.create(path)
  let result: T
  try {
    result = await fill(file)
    await file.sync()
  } catch (error) {
    await file.close().catch(() => undefined)
    throw error
  }
  await file.close()
  return result
}

/** Removes files. A failure is ignored: the next sweep removes them, and the first error is the one to report. */
async function discard(fs: FileSystem, paths: readonly string[]): Promise<void> {
  for (const path of paths) await fs.remove(path).catch(() => undefined)
}
