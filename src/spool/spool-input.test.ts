import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOf } from './spool-input.ts'
import type { SpoolInput } from './spool-store.ts'

async function collect(data: SpoolInput): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytesOf(data)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* each<T>(parts: readonly T[]): AsyncGenerator<T> {
  yield* parts
}

describe('bytesOf', () => {
  it('encodes strings as if they had come in one piece', async () => {
    const unit = fc.constantFrom('a', 'ä', '🧵', '\ud83e', '\uddf5', '\n')
    const parts = fc.array(fc.array(unit, { maxLength: 3 }).map((units) => units.join('')))
    await fc.assert(
      fc.asyncProperty(parts, async (strings) => {
        expect(await collect(each(strings))).toEqual(Buffer.from(strings.join('')))
      }),
    )
  })

  it('does not join half a character with bytes', async () => {
    const mixed = await collect(each(['x\ud83e', Uint8Array.of(97), '\uddf5']))
    expect(mixed).toEqual(Buffer.from('x\ufffda\ufffd'))
  })

  it('never cuts a surrogate pair within a long string', async () => {
    const text = `x${'🧵'.repeat(300_000)}`
    expect((await collect(text)).equals(Buffer.from(text))).toBe(true)
  })

  it('reads a web stream that is not async iterable, and lets go of it', async () => {
    const stream = new Blob(['text']).stream()
    const bare = { getReader: () => stream.getReader() } as ReadableStream<Uint8Array>
    expect(await collect(bare)).toEqual(Buffer.from('text'))
    expect(stream.locked).toBe(false)
  })

  it.each([[5], [null], [{}]])('refuses %j with what it takes instead', async (data) => {
    await expect(collect(data as never)).rejects.toMatchObject({
      code: 'E_SPOOL_INVALID_INPUT',
      message: expect.stringMatching(/A spool takes/),
    })
  })

  it.each([
    ['ArrayBuffer', new ArrayBuffer(4), 'new Uint8Array(buffer)'],
    ['Blob', new Blob(['x']), 'blob.stream()'],
    ['Response', new Response('x'), 'Give its `body`'],
    ['Float64Array', new Float64Array(2), 'new Uint8Array(view.buffer'],
    ['DataView', new DataView(new ArrayBuffer(4)), 'new Uint8Array(view.buffer'],
    ['Date', new Date(0), 'JSON.stringify'],
  ])(
    'refuses a %s, alone or in a stream, with the way to its bytes',
    async (type, data, advice) => {
      const refused = { code: 'E_SPOOL_INVALID_INPUT', data: { type } }
      await expect(collect(data as never)).rejects.toMatchObject(refused)
      await expect(collect(data as never)).rejects.toThrow(advice)
      await expect(collect(each([data]) as never)).rejects.toMatchObject(refused)
    },
  )

  it('takes the bytes of another realm', async () => {
    const foreign: unknown = runInNewContext('Uint8Array.of(104, 105)')
    expect(await collect(foreign as Uint8Array)).toEqual(Buffer.from('hi'))
  })

  it('refuses a stream of objects', async () => {
    await expect(collect(each([{ a: 1 }]) as never)).rejects.toThrow(/JSON lines/)
  })
})
