import { describe, expect, it } from 'vitest'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { Media } from '../spool/media.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { PlacedMedia } from './placed-media.ts'
import { type RawToolCall, ToolCall } from './tool-call.ts'

const spool = memorySpool()
const chart = () =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: 'chart.png',
    trustTier: 'third-party',
    modalityHazard: 'extractable-instructions',
    reader: bytesMedia(new Uint8Array([1, 2])),
  }).spooled(spool)

async function raw(media: readonly unknown[]): Promise<RawToolCall> {
  return {
    id: 'a',
    tool: 'code',
    args: {},
    results: new SpooledArtifact(await spool.write('done')),
    media: media as readonly PlacedMedia[],
    isComplete: true,
    isError: false,
    createdAt: 0,
    completedAt: 1,
  }
}

describe('ToolCall.media', () => {
  it('is the same after JSON, frozen, and part of the digest', async () => {
    const media = await chart()
    const call = new ToolCall(await raw([{ place: 1, media }]))
    expect(Object.isFrozen(call.media) && Object.isFrozen(call.media?.[0])).toBe(true)
    const json: unknown = JSON.parse(JSON.stringify(call))
    expect(json).toMatchObject({
      media: [{ place: 1, media: { $media: { mimeType: 'image/png' } } }],
    })
    const again = ToolCall.fromJSON(json, { spool })
    expect(again.media).toMatchObject([{ place: 1, media: { digest: media.digest } }])
    expect(again.digest).toBe(call.digest)
    expect(new ToolCall(await raw([{ place: 0, media }])).digest).not.toBe(call.digest)
  })

  it.each([
    ['an empty list', []],
    ['something else', [{ place: 0, media: 'x' }]],
    ['no place', [{ media: chart() }]],
    ['null', [null]],
  ])('refuses %s', async (_, media) => {
    const given = await raw(media)
    expect(() => new ToolCall(given)).toThrow('`ToolCall.media` must be a non-empty array')
  })

  it('refuses places out of order, and results that are media already', async () => {
    const media = await chart()
    const twice = await raw([
      { place: 1, media },
      { place: 1, media },
    ])
    expect(() => new ToolCall(twice)).toThrow('in the order of the places')
    const given = { ...(await raw([{ place: 1, media }])), results: media }
    expect(() => new ToolCall(given)).toThrow('media alone are the results')
  })
})
