import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memorySpool } from './memory-spool.ts'
import { readLines } from './read-lines.ts'

const spool = (data: string | Uint8Array) => memorySpool().write(data)

describe('readLines', () => {
  it('gives the lines asked for, without their ends', async () => {
    const reader = await spool('a\nb\r\n\r\n\rc\nd\r')
    const { lines, nextLine } = await readLines(reader, { from: 0, count: 10 })
    expect(lines.map(({ text }) => text)).toEqual(['a', 'b', '', '\rc', 'd\r'])
    expect(nextLine).toBeUndefined()
    expect((await readLines(reader, { from: 3, count: 1 })).lines).toEqual([
      { line: 3, text: '\rc', bytesBefore: 0, bytesAfter: 0 },
    ])
    expect((await readLines(reader, { from: 9, count: 1 })).lines).toEqual([])
  })

  it('agrees with a plain split on any text', async () => {
    const parts = fc.constantFrom('a', 'ä', '🧵', '\n', '\r\n', '\r', 'x'.repeat(40_000))
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 20 }), fc.nat(5), async (list, from) => {
        const text = list.join('')
        const expected = text.split(/\r?\n/)
        if (expected.at(-1) === '') expected.pop()
        const reader = await spool(text)
        const options = { from, count: 100, maxLineChars: 1e9, maxChars: 1e9 }
        const { lines } = await readLines(reader, options)
        // A line longer than one reading shows its head; everything else is whole.
        for (const { line, text: shown, bytesAfter } of lines) {
          if (bytesAfter === 0) expect(shown).toBe(expected[line])
          else expect(expected[line]?.startsWith(shown)).toBe(true)
        }
        expect(lines.length).toBe(Math.max(0, expected.length - from))
      }),
    )
  })

  it('never cuts within a character', async () => {
    const reader = await spool(`${'🧵'.repeat(1000)}\nnext`)
    for (let maxLineChars = 16; maxLineChars < 24; maxLineChars++) {
      const [first, second] = (await readLines(reader, { from: 0, count: 2, maxLineChars })).lines
      expect(first?.text).toMatch(/^(🧵)+$/u)
      expect((first?.text.length ?? 0) * 2 + (first?.bytesAfter ?? 0)).toBe(4000)
      expect(second?.text).toBe('next')
    }
  })

  it('shows the head of a line of many megabytes and goes on behind it', async () => {
    const reader = await spool(`${'long'.repeat(2_000_000)}\r\nnext\n`)
    const { lines } = await readLines(reader, { from: 0, count: 5, maxLineChars: 100 })
    expect(lines).toEqual([
      { line: 0, text: 'long'.repeat(25), bytesBefore: 0, bytesAfter: 7_999_900 },
      { line: 1, text: 'next', bytesBefore: 0, bytesAfter: 0 },
    ])
  })

  it('stops at its limit and says where to go on', async () => {
    const reader = await spool('aaaa\nbbbb\ncccc\n')
    const { lines, nextLine } = await readLines(reader, { from: 0, count: 3, maxChars: 10 })
    expect([lines.length, nextLine]).toEqual([2, 2])
  })
})
