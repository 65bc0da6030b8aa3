import { BobbinError } from '../core/error/error.ts'
import { assertDigest } from './digest-name.ts'
import { spoolCorrupt } from './spool-errors.ts'
import type { ByteRange, SpoolReader } from './spool-reader.ts'
import type { SpoolStore } from './spool-store.ts'

/** What a stored record says about a spool. */
export interface SpoolReference {
  readonly digest: string
  readonly byteLength: number
  readonly lineCount: number
}

/**
 * A reader that opens its spool on first use, so that a record restored from JSON can hold artifacts
 * at once. A failed opening is tried again at the next use; a spool that is not as described is
 * `E_SPOOL_CORRUPT`.
 */
export function lazySpoolReader(
  store: Pick<SpoolStore, 'read'>,
  reference: SpoolReference,
): SpoolReader {
  const digest = assertDigest(reference.digest)
  const byteLength = assertCount(reference.byteLength, 'byteLength')
  const lineCount = assertCount(reference.lineCount, 'lineCount')

  let opening: Promise<SpoolReader> | undefined
  const open = () => {
    opening ??= openAsDescribed().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const openAsDescribed = async () => {
    const reader = await store.read(digest)
    const fits = reader.byteLength === byteLength && reader.lineCount === lineCount
    if (!fits) throw spoolCorrupt(digest, 'size')
    return reader
  }

  return Object.freeze({
    digest,
    byteLength,
    lineCount,
    read: async (start: number, end: number) => (await open()).read(start, end),
    lineStart: async (line: number) => (await open()).lineStart(line),
    lineAt: async (offset: number) => (await open()).lineAt(offset),
    verify: async () => (await open()).verify(),
    async *stream(range?: ByteRange) {
      yield* (await open()).stream(range)
    },
  })
}

function assertCount(value: number, missing: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new BobbinError(
    'E_NOT_A_SPOOL_READER',
    `A spool reference needs \`${missing}\` as a whole number from 0 on.`,
    { missing },
  )
}
