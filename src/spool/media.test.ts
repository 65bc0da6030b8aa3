import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#hash'
import { isBobbinError } from '../core/error/error.ts'
import { MEDIA_KINDS, Media, MODALITY_HAZARDS, type RawMedia } from './media.ts'
import { bytesMedia, streamMedia } from './media-reader.ts'
import { memorySpool } from './memory-spool.ts'

const BYTES = new Uint8Array([137, 80, 78, 71, 0, 255])

const raw = (overrides: Partial<RawMedia> = {}): RawMedia => ({
  kind: 'image',
  mimeType: 'image/png',
  filename: 'chart.png',
  trustTier: 'third-party',
  modalityHazard: 'opaque-perceptual',
  reader: bytesMedia(BYTES),
  ...overrides,
})

async function bytesOf(media: Media): Promise<number[]> {
  const bytes: number[] = []
  for await (const chunk of media.stream()) bytes.push(...chunk)
  return bytes
}

describe('Media', () => {
  it('reads its bytes lazily, as often as asked', async () => {
    let opened = 0
    const media = new Media(
      raw({
        reader: {
          async *stream() {
            opened++
            yield BYTES
          },
        },
      }),
    )
    expect(opened).toBe(0)
    expect(await bytesOf(media)).toEqual([...BYTES])
    expect(await bytesOf(media)).toEqual([...BYTES])
    expect(opened).toBe(2)
    expect(media.byteLength).toBeUndefined()
    expect(media.digest).toBeUndefined()
  })

  it.each(MEDIA_KINDS)('knows the kind %s', (kind) => {
    expect(new Media(raw({ kind })).kind).toBe(kind)
  })

  it.each(MODALITY_HAZARDS)('knows the hazard %s', (modalityHazard) => {
    expect(new Media(raw({ modalityHazard })).modalityHazard).toBe(modalityHazard)
  })

  it.each(['kind', 'mimeType', 'filename', 'trustTier', 'modalityHazard', 'reader'] as const)(
    'has no default for %s',
    (key) => {
      const { [key]: _, ...rest } = raw()
      expect(() => new Media(rest as RawMedia)).toThrow(`\`Media.${key}\` is required and missing`)
    },
  )

  it.each([
    ['kind', 'hologram'],
    ['mimeType', 'png'],
    ['filename', ''],
    ['trustTier', 'mine'],
    ['modalityHazard', 'none'],
    ['reader', BYTES],
  ])('refuses a wrong %s', (key, value) => {
    try {
      new Media({ ...raw(), [key]: value })
    } catch (error) {
      if (isBobbinError(error, 'E_INVALID_INITIAL_MEDIA_VALUE')) {
        expect(error.data.path).toBe(key)
        return
      }
    }
    throw new Error('the media was accepted')
  })

  it('is frozen and keeps its reader to itself', () => {
    const media = new Media(raw())
    expect(Object.isFrozen(media)).toBe(true)
    expect(Object.keys(media)).toEqual([
      'kind',
      'mimeType',
      'filename',
      'trustTier',
      'modalityHazard',
    ])
  })

  it('is not changed by later changes of its reader', async () => {
    const reader = {
      byteLength: BYTES.length,
      digest: sha256Hex(BYTES),
      async *stream() {
        yield BYTES
      },
    }
    const media = new Media(raw({ reader }))
    const before = JSON.stringify(media)
    reader.byteLength = 1
    reader.digest = '0'.repeat(64)
    reader.stream = async function* () {
      yield Uint8Array.of(1)
    }
    expect(JSON.stringify(media)).toBe(before)
    expect(await bytesOf(media)).toEqual([...BYTES])
  })

  it('calls stream on its reader, which may keep state of its own', async () => {
    class Source {
      #bytes = BYTES
      async *stream() {
        yield this.#bytes
      }
    }
    expect(await bytesOf(new Media(raw({ reader: new Source() })))).toEqual([...BYTES])
  })

  it('refuses a reader that says something else each time', () => {
    let asked = 0
    const reader = {
      get byteLength() {
        return asked++ === 0 ? 1 : -1
      },
      async *stream() {},
    }
    expect(() => new Media(raw({ reader }))).toThrow('`Media.reader` must be a MediaReader')
  })

  it.each([
    ['digest', '0'.repeat(64)],
    ['byteLength', 3],
  ])('is not stored when its bytes have another %s than its reader said', async (fact, value) => {
    const media = new Media(raw({ reader: streamMedia(() => BYTES, { [fact]: value }) }))
    await expect(media.spooled(memorySpool())).rejects.toMatchObject({
      code: 'E_INVALID_INITIAL_MEDIA_VALUE',
      data: { path: `reader.${fact}` },
    })
    expect(media[fact as 'digest']).toBe(value)
  })

  it('is stored by reference and found again', async () => {
    const spool = memorySpool()
    const media = await new Media(raw()).spooled(spool)
    expect(media.byteLength).toBe(BYTES.length)
    expect(media.digest).toMatch(/^[0-9a-f]{64}$/)
    const restored = Media.fromJSON(JSON.parse(JSON.stringify(media)), { spool })
    expect(restored).toEqual(media)
    expect(await bytesOf(restored)).toEqual([...BYTES])
  })

  it('refuses bytes that have changed on the spool', async () => {
    const spool = memorySpool()
    const stored = JSON.parse(JSON.stringify(await new Media(raw()).spooled(spool))) as unknown
    const changed = await spool.write(new Uint8Array([137, 80, 78, 71, 0, 254]))
    const media = Media.fromJSON(stored, { spool: { read: async () => changed } })
    await expect(bytesOf(media)).rejects.toMatchObject({
      code: 'E_SPOOL_CORRUPT',
      data: { digest: sha256Hex(BYTES) },
    })
  })
})
