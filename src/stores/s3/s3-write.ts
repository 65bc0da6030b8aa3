import type { LineIndex } from '../../spool/line-index.ts'
import { encodeLineIndex } from '../../spool/line-index-file.ts'
import type { S3Bucket } from './s3-bucket.ts'
import { spoolFailed } from './s3-errors.ts'
import type { SpoolKeys } from './s3-keys.ts'

/** The bytes of a write: the last part in memory, the ones before in an upload. */
export interface StagedBytes {
  add(block: Uint8Array): Promise<void>
  /** Says that there is nothing more, and where the bytes are. */
  end(): Promise<StagedContent>
  /** Removes what was uploaded. A failure is ignored: the next sweep removes it. */
  discard(): Promise<void>
}

/** All bytes of a write: in memory if they fit into one part, else at a temporary key. */
export type StagedContent = { readonly bytes: Uint8Array } | { readonly size: number }

/** The size of a part. S3 takes at most 10,000 of them. */
const PART_BYTES = 8 * 1024 * 1024
const MAX_PARTS = 10_000

/** Takes the blocks of a write. At most two parts are in memory: one is sent while the next is filled. */
export function stagedBytes(
  bucket: S3Bucket,
  temporary: string,
  startedAt: number,
  signal: AbortSignal | undefined,
): StagedBytes {
  // A small write does not need room for a whole part.
  let part = new Uint8Array(0)
  let filled = 0
  let size = 0
  let upload: string | undefined
  let sending: Promise<void> = Promise.resolve()
  const etags: string[] = []

  const grow = (needed: number) => {
    if (needed <= part.length) return
    const larger = new Uint8Array(Math.min(PART_BYTES, Math.max(needed, part.length * 4)))
    larger.set(part.subarray(0, filled))
    part = larger
  }
  const sendPart = async () => {
    await sending
    if (etags.length === MAX_PARTS) {
      const limit = MAX_PARTS * PART_BYTES
      throw spoolFailed('write', 'too large', `A spool in S3 has at most ${limit} bytes.`)
    }
    const id = (upload ??= await bucket.begin(temporary, startedAt))
    const body = part.subarray(0, filled)
    const number = etags.length + 1
    sending = bucket.putPart(temporary, id, number, body, signal).then((etag) => {
      etags.push(etag)
    })
    // Awaited before the next part, but perhaps only after the source took its time.
    sending.catch(() => undefined)
    part = new Uint8Array(PART_BYTES)
    filled = 0
  }

  return {
    async add(block) {
      if (filled + block.length > PART_BYTES) await sendPart()
      grow(filled + block.length)
      part.set(block, filled)
      filled += block.length
      size += block.length
    },

    async end() {
      if (upload === undefined) return { bytes: part.subarray(0, filled) }
      if (filled > 0) await sendPart()
      await sending
      await bucket.complete(temporary, upload, etags)
      return { size }
    },

    async discard() {
      if (upload === undefined) return
      await sending.catch(() => undefined)
      await bucket.abandon({ key: temporary, id: upload }).catch(() => undefined)
      await bucket.remove(temporary).catch(() => undefined)
    },
  }
}

const ATTEMPTS = 8
const PAUSE_MS = 250

/**
 * Puts the content of a write in its place, then its index. Content that is there already is replaced: this repairs a
 * damaged copy and renews its time. Returns how many bytes were replaced.
 */
export async function placeSpool(
  bucket: S3Bucket,
  keys: SpoolKeys,
  content: StagedContent,
  index: LineIndex,
  { temporary, now }: { readonly temporary: string; readonly now: () => number },
): Promise<number> {
  const { digest } = index
  const isMarked = async () => (await bucket.get(keys.mark(digest), 0, 1, 'write')) !== undefined
  const known = await bucket.head(keys.blob(digest), 'write')
  // A sweep that has just removed it may send its request a second time.
  const isNew = known === undefined && !(await isMarked())
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const writtenAt = now()
    if ('size' in content) {
      await bucket.copy(temporary, keys.blob(digest), content.size, writtenAt)
    } else {
      // If it is there by now, another writer has stored the same content just before.
      const onlyNew = isNew && attempt === 0
      await bucket.put(keys.blob(digest), content.bytes, { writtenAt, onlyNew })
    }
    await bucket.put(keys.lines(digest), encodeLineIndex(index), { writtenAt })
    if (isNew) return 0
    // A sweep may have judged the old copy. Without its mark it will see the new time, if the copy is there.
    if (!(await isMarked()) && (await bucket.head(keys.blob(digest), 'write')) !== undefined)
      return known?.size ?? 0
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  const message = `A sweep is removing the spool \`${digest}\` and does not end. Write it again, or sweep again.`
  throw spoolFailed('write', 'sweep', message)
}
