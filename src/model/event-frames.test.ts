import { describe, expect, it } from 'vitest'
import { frameOf, readFrames, splitFrames } from './event-frames.ts'

const EVENTS = [
  { name: 'messageStart', data: '{"role":"assistant"}' },
  { name: 'contentBlockDelta', data: '{"delta":{"text":"– Øst"}}' },
  { name: 'throttlingException', data: '{"message":"Slow down."}' },
]
const bytes = Buffer.concat(EVENTS.map(frameOf))

async function read(...chunks: readonly Uint8Array[]) {
  async function* source() {
    yield* chunks
  }
  const events: object[] = []
  for await (const batch of readFrames(source())) events.push(...batch)
  return events
}

describe('readFrames', () => {
  it('reads what the framing is known to look like', async () => {
    // A frame of its documentation: no headers, no payload.
    const empty = Buffer.from('000000100000000005c248eb7d98c8ff', 'hex')
    await expect(read(empty)).resolves.toEqual([
      { name: 'unknownException', data: '{"message":""}' },
    ])
  })

  it('gives the same however the bytes are cut', async () => {
    expect(await read(bytes)).toEqual(EVENTS)
    for (let at = 1; at < bytes.length; at++) {
      expect(await read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(EVENTS)
    }
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
    expect(await read(...single)).toEqual(EVENTS)
  })

  it('refuses a stream that ends within a frame', async () => {
    const ends = new Set(splitFrames(bytes).map((frame) => frame.byteOffset - bytes.byteOffset))
    for (let end = 1; end < bytes.length; end++) {
      if (ends.has(end)) continue
      await expect(read(bytes.subarray(0, end))).rejects.toMatchObject({
        code: 'E_STREAM_BROKEN',
        data: { reason: 'cut' },
      })
    }
  })

  it('refuses a frame in which any byte is another', async () => {
    const frame = frameOf({ name: 'a', data: '{}' })
    for (let at = 0; at < frame.length; at++) {
      const other = frame.slice()
      other[at] = (other[at] as number) ^ 0x20
      await expect(read(other)).rejects.toMatchObject({ code: 'E_STREAM_BROKEN' })
    }
  })

  it('refuses a payload that is not UTF-8', async () => {
    const frame = frameOf({ name: 'a', data: '"\u00ff"' })
    expect(await read(frame)).toHaveLength(1)
    const latin = Buffer.from(frame)
    latin[latin.length - 7] = 0xff
    await expect(read(latin)).rejects.toMatchObject({ code: 'E_STREAM_BROKEN' })
  })
})

describe('splitFrames', () => {
  it('cuts between frames and keeps every byte', () => {
    const frames = splitFrames(Buffer.concat([bytes, bytes.subarray(0, 20)]))
    expect(frames).toHaveLength(4)
    expect(Buffer.concat(frames)).toEqual(Buffer.concat([bytes, bytes.subarray(0, 20)]))
    expect(splitFrames(Buffer.from('oops'))).toHaveLength(1)
  })
})
