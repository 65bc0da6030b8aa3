import type { SmallText } from '../spool/small-text.ts'
import type { BlobRow } from './blob-row.ts'
import { isText, type StoredBlob } from './store.ts'

/** Small results by digest. Texts find their places when somebody looks: most are never asked for again. */
export class MemoryBlobs {
  readonly #byDigest = new Map<string, StoredBlob>()
  #unplaced: SmallText[] = []
  #unplacedBytes = 0

  addText(text: SmallText): void {
    this.#unplaced.push(text)
    this.#unplacedBytes += text.byteLength
    // Any number of them may say the same.
    if (this.#unplacedBytes > MANY_BYTES) this.#place()
  }

  add({ digest, blob }: BlobRow): void {
    if (isText(blob)) this.addText(blob)
    // A copy, which `slice` of a Node buffer is not.
    else if (!this.#byDigest.has(digest)) this.#byDigest.set(digest, new Uint8Array(blob))
  }

  get(digest: string): StoredBlob | undefined {
    this.#place()
    return this.#byDigest.get(digest)
  }

  delete(digest: string): void {
    this.#place()
    this.#byDigest.delete(digest)
  }

  #place(): void {
    for (const text of this.#unplaced) {
      if (!this.#byDigest.has(text.digest)) this.#byDigest.set(text.digest, text)
    }
    this.#unplaced = []
    this.#unplacedBytes = 0
  }
}

/** So much room may be taken by texts that are there already. */
const MANY_BYTES = 1024 * 1024
