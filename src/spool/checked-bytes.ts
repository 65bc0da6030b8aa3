import { sha256Stream } from '#hash'
import { spoolCorrupt } from './spool-errors.ts'

/** The same chunks; `E_SPOOL_CORRUPT` after the last one if together they are not what `digest` names. */
export async function* checkedBytes(
  chunks: AsyncIterable<Uint8Array>,
  digest: string,
): AsyncGenerator<Uint8Array> {
  const hash = sha256Stream()
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digestHex() !== digest) throw spoolCorrupt(digest, 'bytes')
}
