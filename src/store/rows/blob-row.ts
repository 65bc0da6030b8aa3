import { sha256Hex } from '#hash'
import { MAX_BLOB_BYTES } from '../store.ts'
import { invalidInput } from '../store-errors.ts'
import type { BlobRow } from './store-rows.ts'

export function blobRow(bytes: Uint8Array): BlobRow {
  return { digest: sha256Hex(bytes), bytes }
}

/** Refuses values that are not bytes, and bytes that belong on the spool. */
export function assertBlobs(blobs: readonly Uint8Array[]): void {
  for (const [index, blob] of blobs.entries()) {
    if (!ArrayBuffer.isView(blob)) throw invalidInput(`blobs.${index}`, 'must be a Uint8Array')
    const { byteLength } = blob
    if (byteLength > MAX_BLOB_BYTES) {
      const rule = `has ${byteLength} bytes: more than ${MAX_BLOB_BYTES} go to the spool`
      throw invalidInput(`blobs.${index}`, rule)
    }
  }
}
