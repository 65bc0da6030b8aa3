import { sha256Hex } from '#hash'
import { isText, MAX_BLOB_BYTES, type StoredBlob } from './store.ts'
import { invalidInput } from './store-errors.ts'

/** A small result; a text has its bytes made when somebody reads them. */
export interface BlobRow {
  readonly digest: string
  readonly blob: StoredBlob
}

export function blobRow(blob: StoredBlob): BlobRow {
  return { digest: isText(blob) ? blob.digest : sha256Hex(blob), blob }
}

/** The bytes of a blob; a text has them only now. */
export function bytesOf(blob: StoredBlob): Uint8Array {
  return isText(blob) ? blob.bytes() : blob
}

/** Refuses bytes that belong on the spool. */
export function assertBlobs(blobs: readonly StoredBlob[]): void {
  for (let index = 0; index < blobs.length; index++) {
    const blob = blobs[index] as StoredBlob
    if (isText(blob) && typeof blob.bytes !== 'function') {
      throw invalidInput(`blobs.${index}`, 'must be a Uint8Array')
    }
    const { byteLength } = blob
    if (byteLength > MAX_BLOB_BYTES) {
      const rule = `has ${byteLength} bytes: what is larger than ${MAX_BLOB_BYTES} goes to the spool`
      throw invalidInput(`blobs.${index}`, rule)
    }
  }
}
