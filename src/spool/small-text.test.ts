import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memorySpool } from './memory-spool.ts'
import { SmallText } from './small-text.ts'
import type { SpoolReader } from './spool-reader.ts'

const text = fc.string({
  unit: fc.oneof(fc.constantFrom('\n', '\r', 'ö', '🧵', '\ufeff'), fc.string({ maxLength: 1 })),
  maxLength: 40,
})

async function answers(reader: SpoolReader, at: number, to: number) {
  const chunks: Uint8Array[] = []
  for await (const chunk of reader.stream({ start: at, end: to })) chunks.push(chunk)
  await reader.verify()
  return {
    digest: reader.digest,
    byteLength: reader.byteLength,
    lineCount: reader.lineCount,
    read: [...(await reader.read(at, to))],
    streamed: chunks.flatMap((chunk) => [...chunk]),
    lineStart: await reader.lineStart(at),
    lineAt: await reader.lineAt(to),
  }
}

describe('SmallText', () => {
  it('answers as the spool does that holds the same text', async () => {
    const place = fc.oneof(fc.integer({ min: -2, max: 50 }), fc.constant(Number.NaN))
    await fc.assert(
      fc.asyncProperty(text, place, place, async (content, at, to) => {
        const small = SmallText.of(content, 1_000)
        expect(small?.text).toBe(content)
        const spooled = await memorySpool().write(content)
        expect(await answers(small as SmallText, at, to)).toEqual(await answers(spooled, at, to))
      }),
    )
  })

  it('leaves alone what is larger, and what UTF-8 would change', () => {
    expect(SmallText.of('1234', 4)?.byteLength).toBe(4)
    expect(SmallText.of('12345', 4)).toBeUndefined()
    expect(SmallText.of('öö3', 4)).toBeUndefined()
    expect(SmallText.of('\ud83e', 4)).toBeUndefined()
  })

  it('gives bytes that are nobody else’s', async () => {
    const small = SmallText.of('abc', 4) as SmallText
    ;(await small.read(0, 3)).fill(0)
    small.bytes().fill(0)
    expect(new TextDecoder().decode(await small.read(0, 3))).toBe('abc')
    expect(Object.isFrozen(small)).toBe(true)
  })
})
