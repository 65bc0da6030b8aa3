import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { concatBytes } from '../../core/concat-bytes.ts'
import { blockReader } from '../../spool/memory-spool.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import type { SpoolInput, SpoolStore } from '../../spool/spool-store.ts'
import { MAX_BLOB_BYTES } from '../store.ts'
import { invalidInput } from '../store-errors.ts'

const encoder = new TextEncoder()

/** Where the results of a seeded history go: small ones wait for the commit of their records, larger ones go to the spool. */
export class SeedSpool implements Pick<SpoolStore, 'write'> {
  #waiting: Uint8Array[] = []
  readonly #spool: SpoolStore | undefined

  constructor(spool: SpoolStore | undefined) {
    this.#spool = spool
  }

  async write(data: SpoolInput): Promise<SpoolReader> {
    const bytes = await bytesOf(data)
    if (bytes.length <= MAX_BLOB_BYTES) {
      this.#waiting.push(bytes)
      return blockReader(bytes)
    }
    if (this.#spool === undefined) {
      throw invalidInput('spool', 'must be given: a result is too large for the store itself')
    }
    return this.#spool.write(bytes)
  }

  async text(text: string): Promise<SpooledArtifact> {
    return new SpooledArtifact(await this.write(text))
  }

  /** The small results since the last time. */
  take(): readonly Uint8Array[] {
    const waiting = this.#waiting
    this.#waiting = []
    return waiting
  }
}

async function bytesOf(data: SpoolInput): Promise<Uint8Array> {
  if (typeof data === 'string') return encoder.encode(data)
  if (data instanceof Uint8Array) return data
  const chunks: Uint8Array[] = []
  for await (const chunk of data as AsyncIterable<Uint8Array | string>) {
    chunks.push(typeof chunk === 'string' ? encoder.encode(chunk) : chunk)
  }
  return concatBytes(chunks)
}
