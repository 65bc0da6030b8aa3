import { describe, expect, it } from 'vitest'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { Media } from '../spool/media.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { inlineBySize } from './inline-by-size.ts'

const spool = memorySpool()
const artifact = async (bytes: number) => new SpooledArtifact(await spool.write('x'.repeat(bytes)))

describe('inlineBySize', () => {
  it('shows results inline up to the limit', async () => {
    const decide = inlineBySize({ bytes: 100 })
    expect(decide(await artifact(100))).toBe(true)
    expect(decide(await artifact(101))).toBe(false)
    expect(inlineBySize({ tokens: 25 })(await artifact(100))).toBe(true)
    expect(inlineBySize({ tokens: 24 })(await artifact(100))).toBe(false)
  })

  it('counts the artifacts of a call together and media not at all', async () => {
    const decide = inlineBySize({ bytes: 100 })
    expect(decide([await artifact(60), await artifact(60)])).toBe(false)
    const media = new Media({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'a.png',
      trustTier: 'developer',
      modalityHazard: 'inert',
      reader: bytesMedia(new Uint8Array(1_000)),
    })
    expect(decide(media)).toBe(true)
  })

  it.each([undefined, 2000, {}, { tokens: '2k' }, { bytes: -1 }])(
    'refuses %j as a limit',
    (limit) => {
      expect(() => inlineBySize(limit as never)).toThrow('must be { bytes } or { tokens }')
    },
  )
})
