import { open, stat } from 'node:fs/promises'
import { BobbinError } from '../../core/error.ts'
import { type MediaReader, mediaReader } from '../../spool/media-reader.ts'

/** Media in a file of the application's choosing; its size is taken now, its bytes when they are read. */
export async function fileMedia(path: string): Promise<MediaReader> {
  const facts = await stat(path)
  if (!facts.isFile()) {
    throw new BobbinError(
      'E_NOT_A_MEDIA_READER',
      `\`${path}\` is not a regular file, so it cannot be media. Give the path of a file, not of a folder.`,
      { missing: 'file' },
    )
  }
  return mediaReader({ byteLength: facts.size }, async function* () {
    const file = await open(path)
    try {
      yield* file.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>
    } finally {
      await file.close()
    }
  })
}
