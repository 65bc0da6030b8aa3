import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brief, cutText } from './cut-text.ts'

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

describe('brief', () => {
  it('marks what it cut, within the limit', () => {
    expect(brief('abcd', 4)).toBe('abcd')
    expect(brief('abcde', 4)).toBe('abc…')
    expect(brief('ab😀de', 4)).toBe('ab…')
  })
})
