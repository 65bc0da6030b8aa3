import { join } from 'node:path'
import type { IdSource } from '../../core/ids.ts'
import type { SweepReport } from '../../spool/spool-store.ts'
import type { FileSystem } from './file-system.ts'
import {
  ensureFolder,
  folderExists,
  isShardName,
  parseFileName,
  type SpoolFolder,
} from './spool-folder.ts'

interface StoredSpool {
  readonly digest: string
  readonly size: number
  readonly modifiedMs: number
}

/** Every spool of a tenant. */
export async function* storedSpools(
  fs: FileSystem,
  folder: SpoolFolder,
): AsyncGenerator<StoredSpool> {
  for await (const { digest, part } of storedFiles(fs, folder)) {
    if (part !== 'blob') continue
    const facts = await fs.facts(folder.blob(digest))
    if (facts?.kind === 'file') yield { digest, ...facts }
  }
}

/** What may go, and what a sweep works with. */
export interface Sweeping {
  readonly live: ReadonlySet<string>
  /** Only what was written before this moment may go. */
  readonly olderThan: number
  readonly newId: IdSource
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>
  /** Called in the same turn as the removal. */
  onDeleted(size: number): void
  /** Whether a temporary file belongs to a write of this store that is still under way. */
  isUnderWay(name: string): boolean
}

/** Deletes old spools that nothing refers to, indexes without a blob, and leftovers of interrupted writes. */
export async function sweepFolder(
  fs: FileSystem,
  folder: SpoolFolder,
  sweeping: Sweeping,
): Promise<SweepReport> {
  const report = { kept: 0, deleted: 0, bytesFreed: 0 }
  if (!(await folderExists(fs, folder.tenant))) return report
  // Blobs are moved there before they go, so it must not lead elsewhere.
  await ensureFolder(fs, folder.temporary, folder)
  for await (const { digest, part } of storedFiles(fs, folder)) {
    if (part === 'lines') {
      report.bytesFreed += await sweeping.inTurn(() => removeOrphan(fs, folder, digest, sweeping))
      continue
    }
    const facts = await fs.facts(folder.blob(digest))
    if (facts === undefined) continue
    const old = facts.modifiedMs < sweeping.olderThan && !sweeping.live.has(digest)
    const outcome = old
      ? await sweeping.inTurn(() => removeOld(fs, folder, digest, sweeping))
      : 'kept'
    if (outcome === 'kept') report.kept++
    if (outcome !== 'deleted') continue
    report.deleted++
    report.bytesFreed += facts.size
  }
  report.bytesFreed += await removeLeftovers(fs, folder, sweeping)
  return report
}

/**
 * Removes a blob that is still old; `gone` when another process did so. It is moved aside before its age is looked at for the last
 * time: another process may have written the same content since, and then it goes back.
 */
async function removeOld(
  fs: FileSystem,
  folder: SpoolFolder,
  digest: string,
  { olderThan, newId, onDeleted }: Sweeping,
): Promise<'kept' | 'deleted' | 'gone'> {
  const known = await fs.facts(folder.blob(digest))
  if (known === undefined) return 'gone'
  if (known.modifiedMs >= olderThan) return 'kept'
  const aside = join(folder.temporary, `${newId()}.swept`)
  try {
    await fs.rename(folder.blob(digest), aside)
  } catch (error) {
    if ((await fs.facts(folder.blob(digest))) === undefined) return 'gone'
    throw error
  }
  const facts = await fs.facts(aside)
  if (facts !== undefined && facts.modifiedMs >= olderThan) {
    await fs.rename(aside, folder.blob(digest))
    return 'kept'
  }
  onDeleted(known.size)
  await fs.remove(aside)
  await fs.remove(folder.lines(digest))
  await fs.syncFolder(folder.shard(digest))
  return 'deleted'
}

async function removeOrphan(
  fs: FileSystem,
  folder: SpoolFolder,
  digest: string,
  { olderThan }: Sweeping,
): Promise<number> {
  if ((await fs.facts(folder.blob(digest))) !== undefined) return 0
  return removeIfOld(fs, folder.lines(digest), olderThan)
}

async function removeLeftovers(
  fs: FileSystem,
  folder: SpoolFolder,
  { olderThan, isUnderWay }: Sweeping,
): Promise<number> {
  let freed = 0
  for (const name of await fs.list(folder.temporary)) {
    if (isUnderWay(name)) continue
    freed += await removeIfOld(fs, join(folder.temporary, name), olderThan)
  }
  return freed
}

async function removeIfOld(fs: FileSystem, path: string, olderThan: number): Promise<number> {
  const facts = await fs.facts(path)
  if (facts?.kind !== 'file' || facts.modifiedMs >= olderThan) return 0
  await fs.remove(path)
  return facts.size
}

async function* storedFiles(fs: FileSystem, folder: SpoolFolder) {
  if (!(await folderExists(fs, folder.tenant))) return
  for (const shard of (await fs.list(folder.tenant)).filter(isShardName)) {
    const path = join(folder.tenant, shard)
    // A symbolic link instead of a shard leads elsewhere: those files are not ours.
    if ((await fs.facts(path))?.kind !== 'folder') continue
    for (const name of await fs.list(path)) {
      const parsed = parseFileName(name, shard)
      if (parsed !== undefined) yield parsed
    }
  }
}
