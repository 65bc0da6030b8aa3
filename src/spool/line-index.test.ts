import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FIRST_STRIDE, LineCounter, type LineIndex, MAX_ENTRIES } from './line-index.ts'
import { decodeLineIndex, encodeLineIndex } from './line-index-file.ts'
import { wind } from './wind.ts'

const text = (size: number) => {
  let out = ''
  for (let i = 0; out.length < size; i++) out += `${'x'.repeat(i % 83)}\n`
  return out.slice(0, size)
}
const indexOf = (data: string): Promise<LineIndex> => wind(data, { put() {} })

describe('LineCounter', () => {
  it('counts alike however the bytes are cut', () => {
    const bytes = new TextEncoder().encode(text(200_000))
    const whole = new LineCounter()
    whole.add(bytes)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 90_000 }), { maxLength: 9 }), (sizes) => {
        const counter = new LineCounter()
        let at = 0
        for (const size of [...sizes, bytes.length]) {
          counter.add(bytes.subarray(at, at + size))
          at = Math.min(bytes.length, at + size)
        }
        expect(counter.lines()).toEqual(whole.lines())
      }),
    )
  })

  it('bounds its entries by doubling the stride', () => {
    const counter = new LineCounter()
    const block = new Uint8Array(FIRST_STRIDE).fill(97)
    block[0] = 10
    const blocks = MAX_ENTRIES * 2 + 3
    for (let i = 0; i < blocks; i++) counter.add(block)
    const { entries, stride, newlines, byteLength } = counter.lines()
    expect(entries.length).toBeLessThanOrEqual(MAX_ENTRIES)
    expect(stride).toBe(FIRST_STRIDE * 4)
    expect([newlines, byteLength]).toEqual([blocks, blocks * FIRST_STRIDE])
    expect(entries.slice(0, 3)).toEqual([4, 8, 12])
    expect(entries.at(-1)).toBe(Math.floor(blocks / 4) * 4)
  })
})

describe('decodeLineIndex', () => {
  it('gives back what was encoded', async () => {
    for (const data of ['', 'one', 'a\nb\n', text(600_000)]) {
      const index = await indexOf(data)
      const stored = decodeLineIndex(encodeLineIndex(index), index)
      expect(stored).toEqual({ state: 'sound', index })
    }
  })

  it('takes no byte that was flipped, added or lost for sound', async () => {
    const index = await indexOf(text(140_000))
    const bytes = encodeLineIndex(index)
    for (let at = 0; at < bytes.length; at++) {
      const flipped = bytes.slice()
      flipped[at] = (flipped[at] ?? 0) ^ 0x80
      expect(decodeLineIndex(flipped, index).state).toBe('damaged')
    }
    expect(decodeLineIndex(bytes.subarray(0, -1), index).state).toBe('damaged')
    expect(decodeLineIndex(Uint8Array.of(...bytes, 0), index).state).toBe('damaged')
    expect(decodeLineIndex(new Uint8Array(), index).state).toBe('damaged')
  })

  it.each([
    ['newlines beyond its bytes', { newlines: 2 ** 50 }],
    ['fewer newlines than an entry says', { newlines: 1 }],
    ['a stride of nothing', { stride: 0 }],
    ['a stride that is none of ours', { stride: 70_000 }],
    ['entries for other bytes', { entries: [3] }],
    ['entries that fall', { entries: [9, 8, 7, 6] }],
    ['an entry with more lines than bytes', { entries: [70_000, 70_000, 70_000, 70_000] }],
    ['too few blocks', { blockHashes: ['0'.repeat(64)] }],
  ] satisfies [string, Partial<LineIndex>][])(
    'takes an index with %s for damaged, though its checksum is right',
    async (_, forged) => {
      const index = await indexOf('some line\n'.repeat(30_000))
      expect(index.entries).toHaveLength(4)
      const bytes = encodeLineIndex({ ...index, ...forged })
      expect(decodeLineIndex(bytes, index)).toEqual({ state: 'damaged' })
    },
  )

  it('takes a sound index of other bytes for stale', async () => {
    const [one, two] = [await indexOf('one'), await indexOf('two')]
    expect(decodeLineIndex(encodeLineIndex(one), two)).toEqual({ state: 'stale' })
  })
})
