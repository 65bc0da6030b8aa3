import type { SweepReport } from '../../spool/spool-store.ts'
import type { ListedObject, S3Bucket } from './s3-bucket.ts'
import { parseKey, type SpoolKeys, startOfWrite } from './s3-keys.ts'

/** What may go, and what a sweep works with. */
export interface Sweeping {
  readonly live: ReadonlySet<string>
  readonly now: number
  readonly graceMs: number
  /** Whether a temporary key belongs to a write of this process. */
  isUnderWay(key: string): boolean
  onDeleted(size: number): void
}

/** How many objects are looked at side by side. */
const AT_ONCE = 16

/** Deletes old spools that are not in use, and leftovers of interrupted writes and sweeps. */
export async function sweepBucket(
  bucket: S3Bucket,
  keys: SpoolKeys,
  sweeping: Sweeping,
): Promise<SweepReport> {
  const report = { kept: 0, deleted: 0, bytesFreed: 0 }
  const visit = async ({ key, size }: ListedObject) => {
    const parsed = parseKey(keys, key)
    if (parsed?.part === 'blob') {
      const isGone = await removeSpool(bucket, keys, parsed.digest, sweeping)
      if (isGone) {
        sweeping.onDeleted(size)
        report.deleted++
        report.bytesFreed += size
      } else report.kept++
      return
    }
    const isGone =
      parsed === undefined
        ? await removeLeftover(bucket, keys, key, sweeping)
        : await removeOrphan(bucket, keys, key, parsed.digest, sweeping)
    if (isGone) report.bytesFreed += size
  }
  let page: ListedObject[] = []
  for await (const object of bucket.list(keys.own)) {
    page.push(object)
    if (page.length < AT_ONCE) continue
    await Promise.all(page.map(visit))
    page = []
  }
  await Promise.all(page.map(visit))
  report.bytesFreed += await abandonUploads(bucket, keys, sweeping)
  return report
}

/**
 * Removes a spool unless it is in use or young. S3 has no removal that looks at the time, so that a mark is put first:
 * a writer that renews the spool afterwards sees the mark, and writes again when the sweep is over.
 */
async function removeSpool(
  bucket: S3Bucket,
  keys: SpoolKeys,
  digest: string,
  { live, now, graceMs }: Sweeping,
): Promise<boolean> {
  if (live.has(digest)) return false
  const blob = keys.blob(digest)
  const isOld = async () => {
    const facts = await bucket.head(blob)
    return facts !== undefined && facts.writtenAt < now - graceMs
  }
  if (!(await isOld())) return false
  // Where a mark lies, another sweep is at it, or died: its mark goes when it is old.
  const mark = { writtenAt: now, onlyNew: true }
  if (!(await bucket.put(keys.mark(digest), new Uint8Array(), mark))) return false
  try {
    if (!(await isOld())) return false
    await bucket.remove(blob)
    await bucket.remove(keys.lines(digest))
    return true
  } finally {
    await bucket.remove(keys.mark(digest))
  }
}

/** Removes an index without bytes, or the mark of a sweep that died. */
async function removeOrphan(
  bucket: S3Bucket,
  keys: SpoolKeys,
  key: string,
  digest: string,
  { now, graceMs }: Sweeping,
): Promise<boolean> {
  if (key === keys.lines(digest) && (await bucket.head(keys.blob(digest))) !== undefined) {
    return false
  }
  const facts = await bucket.head(key)
  if (facts === undefined || facts.writtenAt >= now - graceMs) return false
  await bucket.remove(key)
  return true
}

/** Removes what a write had completed under its temporary key when its process died. */
async function removeLeftover(
  bucket: S3Bucket,
  keys: SpoolKeys,
  key: string,
  { now, graceMs, isUnderWay }: Sweeping,
): Promise<boolean> {
  const start = startOfWrite(keys, key)
  if (start === undefined || start >= now - graceMs || isUnderWay(key)) return false
  await bucket.remove(key)
  return true
}

async function abandonUploads(
  bucket: S3Bucket,
  keys: SpoolKeys,
  { now, graceMs, isUnderWay }: Sweeping,
): Promise<number> {
  let freed = 0
  for await (const upload of bucket.uploads(keys.own)) {
    const start = startOfWrite(keys, upload.key)
    // A large spool is copied to its place by an upload as well.
    const isCopy = parseKey(keys, upload.key) !== undefined
    if (isCopy ? !(upload.ageMs >= graceMs) : start === undefined || start >= now - graceMs)
      continue
    if (isUnderWay(upload.key)) continue
    // A write may take longer than the grace period: its last part counts.
    const last = await bucket.sinceLastPart(upload)
    if (last === undefined || last.ms < graceMs) continue
    await bucket.abandon(upload)
    freed += last.bytes
  }
  return freed
}
