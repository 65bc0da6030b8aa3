import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileMedia } from './file-media.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-media-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('fileMedia', () => {
  it('reads a file anew each time, lazily', async () => {
    const path = join(folder, 'picture.png')
    await writeFile(path, Uint8Array.of(1, 2, 3))
    const media = await fileMedia(path)
    expect(media.byteLength).toBe(3)
    for (let reading = 0; reading < 2; reading++) {
      const bytes: number[] = []
      for await (const chunk of media.stream()) bytes.push(...chunk)
      expect(bytes).toEqual([1, 2, 3])
    }
  })

  it('refuses a folder', async () => {
    await expect(fileMedia(folder)).rejects.toMatchObject({ code: 'E_NOT_A_MEDIA_READER' })
  })
})
