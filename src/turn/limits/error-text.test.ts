import { describe, expect, it } from 'vitest'
import { errorText } from './failure.ts'

describe('errorText', () => {
  it('keeps 16 KB of an error, whatever its script', () => {
    expect(errorText(new Error('x'.repeat(20_000)))).toBe('x'.repeat(16_384))
    expect(errorText(new Error('語'.repeat(20_000)))).toBe('語'.repeat(5_461))
  })

  it('cleans the text before it is cut', () => {
    const clean = (text: string) => text.replaceAll('secret', '***')
    expect(errorText(`${'x'.repeat(16_381)}secret`, clean)).toBe(`${'x'.repeat(16_381)}***`)
  })
})
