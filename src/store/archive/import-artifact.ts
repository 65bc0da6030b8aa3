import { sha256Hex } from '#hash'
import { base64ToBytes } from '../../core/base64.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { MAX_BLOB_BYTES } from '../store.ts'
import type { ImportLines } from './import-lines.ts'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Reads the chunks of one artifact: small ones are given back, larger ones go to the spool. */
export async function importArtifact(
  lines: ImportLines,
  { artifact, byteLength }: { readonly artifact: string; readonly byteLength: number },
  spool: SpoolStore | undefined,
): Promise<Uint8Array | undefined> {
  if (byteLength <= MAX_BLOB_BYTES) {
    const bytes = new Uint8Array(byteLength)
    let at = 0
    for await (const chunk of chunksOf(lines, byteLength)) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    if (sha256Hex(bytes) !== artifact) throw lines.invalid('ends an artifact with another digest')
    return bytes
  }
  if (spool === undefined) {
    throw lines.invalid('is an artifact that belongs on a spool: pass `{ spool }` to import')
  }
  const { digest } = await spool.write(chunksOf(lines, byteLength))
  if (digest !== artifact) throw lines.invalid('ends an artifact with another digest')
  return undefined
}

async function* chunksOf(lines: ImportLines, byteLength: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < byteLength; ) {
    const line = await lines.next()
    if (line === undefined || !('chunk' in line))
      throw lines.invalid('must be a chunk of an artifact')
    if (!BASE64.test(line.chunk) || line.chunk.length % 4 !== 0) {
      throw lines.invalid('must hold base64')
    }
    const bytes = base64ToBytes(line.chunk)
    at += bytes.length
    if (bytes.length === 0 || at > byteLength) throw lines.invalid('is a chunk of the wrong length')
    yield bytes
  }
}
