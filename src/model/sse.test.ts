import { describe, expect, it } from 'vitest'
import { readSse } from './sse.ts'

async function* chunks(...pieces: readonly (string | Uint8Array)[]) {
  for (const piece of pieces) {
    yield typeof piece === 'string' ? new TextEncoder().encode(piece) : piece
  }
}

async function dataOf(...pieces: readonly (string | Uint8Array)[]): Promise<string[]> {
  const found: string[] = []
  for await (const batch of readSse(chunks(...pieces))) found.push(...batch.map(({ data }) => data))
  return found
}

describe('readSse', () => {
  it('reads events with LF, CRLF and CR', async () => {
    expect(await dataOf('data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\n')).toEqual([
      'a',
      'b',
      'c',
      'd',
    ])
  })

  it('reads CRLF whose halves come in two chunks', async () => {
    expect(await dataOf('data: a\r', '\n\r', '\ndata: b\r\n\r\n')).toEqual(['a', 'b'])
  })

  it('reads the last event when no blank line follows', async () => {
    expect(await dataOf('data: a\n\ndata: b')).toEqual(['a', 'b'])
  })

  it('reads a character whose bytes come in two chunks', async () => {
    const bytes = new TextEncoder().encode('data: é\n\n')
    expect(await dataOf(bytes.subarray(0, 7), bytes.subarray(7))).toEqual(['é'])
  })

  it('leaves comments and a byte order mark out', async () => {
    expect(await dataOf('\ufeffdata: a\n\n: ping\n\n')).toEqual(['a'])
  })

  it.each([
    ['in the middle', [new Uint8Array([0x64, 0xff, 0x0a])]],
    ['at the end', ['data: a\n\n', new Uint8Array([0xc3])]],
  ])('refuses bytes that are not UTF-8 %s', async (_, pieces) => {
    await expect(dataOf(...pieces)).rejects.toMatchObject({
      code: 'E_STREAM_BROKEN',
      data: { reason: 'invalid-utf8' },
    })
  })

  it('refuses an event without end', async () => {
    const read = async () => {
      for await (const _ of readSse(chunks('data: ', 'x'.repeat(50), 'x'.repeat(60)), 100));
    }
    await expect(read()).rejects.toMatchObject({ data: { reason: 'too-long' } })
  })
})
