import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuTime } from '../../../test/cpu-time.ts'
import { slowness } from '../../../test/yardstick.ts'
import { brief, cutBytes, cutText } from './cut-text.ts'

const texts = fc.string({ unit: 'binary', maxLength: 12 })
const limits = fc.integer({ min: -2, max: 12 })

describe('cutText', () => {
  it('gives the longest beginning within the limit that splits no character', () => {
    fc.assert(
      fc.property(texts, limits, (text, limit) => {
        let expected = ''
        for (const character of text) {
          if (expected.length + character.length > limit) break
          expected += character
        }
        expect(cutText(text, limit)).toBe(expected)
      }),
    )
  })
})

describe('cutBytes', () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text).length

  it('gives the longest beginning within as many bytes that splits no character', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: -2, max: 40 }), (text, limit) => {
        let expected = ''
        for (const character of text) {
          if (bytesOf(expected + character) > limit) break
          expected += character
        }
        expect(cutBytes(text, limit)).toBe(expected)
      }),
    )
  })

  it('takes any text and any limit in linear time', () => {
    const text = '語😀'.repeat(3_000_000)
    const started = cpuTime()
    expect(cutBytes(text, 7_000_002)).toBe('語😀'.repeat(1_000_000))
    expect(cutBytes(text, Number.POSITIVE_INFINITY)).toBe(text)
    expect((cpuTime() - started) / slowness()).toBeLessThan(1_000)
  })
})

describe('brief', () => {
  it('marks what it cut, within the limit', () => {
    expect(brief('abcd', 4)).toBe('abcd')
    expect(brief('abcde', 4)).toBe('abc…')
    expect(brief('ab😀de', 4)).toBe('ab…')
  })
})
