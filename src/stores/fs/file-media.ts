import { open, stat } from 'node:fs/promises'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { wrongInput } from '../../core/error/wrong-input.ts'
import { type MediaReader, mediaReader } from '../../spool/media-reader.ts'

/** Media in a file of the application's choosing; its size is taken now, its bytes when they are read. */
export async function fileMedia(path: string): Promise<MediaReader> {
  if (typeof path !== 'string' && !((path as unknown) instanceof URL)) {
    throw wrongInput('fileMedia', 'path', 'must be the path of a file, a string')
  }
  const facts = await stat(path).catch((cause: unknown) => {
    const message = `\`${path}\` cannot be media: ${thrownText(cause)}. Give the path of a file that can be read.`
    throw new BobbinError('E_NOT_A_MEDIA_READER', message, { missing: 'file' }, { cause })
  })
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
