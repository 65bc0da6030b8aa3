import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import {
  blobMedia,
  bytesMedia,
  isMediaReader,
  type MediaReader,
  spoolMedia,
  streamMedia,
} from './media-reader.ts'
import { memorySpool } from './memory-spool.ts'

const PIXELS = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 255, 10, 13)

async function bytesOf(media: MediaReader): Promise<number[]> {
  const bytes: number[] = []
  for await (const chunk of media.stream()) bytes.push(...chunk)
  return bytes
}

describe('media readers', () => {
  it('give the same bytes at each reading', async () => {
    const spooled = await memorySpool().write(PIXELS)
    const readers: MediaReader[] = [
      bytesMedia(PIXELS),
      blobMedia(new Blob([PIXELS])),
      streamMedia(() => Readable.from([PIXELS.slice(0, 3), PIXELS.slice(3)])),
      streamMedia(async () => new Blob([PIXELS]).stream()),
      spoolMedia(spooled),
    ]
    for (const reader of readers) {
      expect(isMediaReader(reader)).toBe(true)
      expect(await bytesOf(reader)).toEqual([...PIXELS])
      expect(await bytesOf(reader)).toEqual([...PIXELS])
    }
  })

  it('say their size and digest where those are known', async () => {
    const spooled = await memorySpool().write(PIXELS)
    expect(bytesMedia(PIXELS).byteLength).toBe(8)
    expect(blobMedia(new Blob([PIXELS])).byteLength).toBe(8)
    expect(spoolMedia(spooled)).toMatchObject({ byteLength: 8, digest: spooled.digest })
    const unknown = streamMedia(() => PIXELS)
    expect('byteLength' in unknown || 'digest' in unknown).toBe(false)
    expect(streamMedia(() => PIXELS, { byteLength: 8 }).byteLength).toBe(8)
  })

  it('do not see later changes to the bytes they were made of', async () => {
    for (const bytes of [PIXELS.slice(), Buffer.from(PIXELS)]) {
      const media = bytesMedia(bytes)
      bytes.fill(0)
      for await (const chunk of media.stream()) chunk.fill(1)
      expect(await bytesOf(media)).toEqual([...PIXELS])
    }
  })
})

describe('isMediaReader', () => {
  it.each([
    ['text'],
    [{}],
    [{ stream: () => {}, byteLength: -1 }],
    [{ stream: () => {}, byteLength: '8' }],
    [{ stream: () => {}, digest: 'short' }],
  ])('refuses %j', (value) => {
    expect(isMediaReader(value)).toBe(false)
  })

  it('does not take a spool reader for media', async () => {
    const reader = await memorySpool().write('text')
    expect(isMediaReader(reader)).toBe(false)
    expect(isMediaReader(spoolMedia(reader))).toBe(true)
  })
})
