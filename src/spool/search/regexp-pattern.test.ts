import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { regexpPattern } from './regexp-pattern.ts'

describe('regexpPattern', () => {
  it('leaves text as it is', () => {
    expect(regexpPattern('a+')).toEqual({ pattern: 'a+' })
  })

  it('takes the source of an expression, and its case flag', () => {
    expect(regexpPattern(/a\/b+/gmsu)).toEqual({ pattern: 'a\\/b+' })
    expect(regexpPattern(/x/i)).toEqual({ pattern: 'x', ignoreCase: true })
    const foreign = runInNewContext('/far/i') as RegExp
    expect(regexpPattern(foreign)).toEqual({ pattern: 'far', ignoreCase: true })
  })

  it('refuses flags that ask for something else', () => {
    const refused = expect.objectContaining({ code: 'E_PATTERN_UNSUPPORTED' })
    for (const flags of ['y', 'v', 'iy']) {
      expect(() => regexpPattern(new RegExp('a', flags))).toThrow(refused)
      expect(() => regexpPattern(new RegExp('a', flags))).toThrow('flags `y` and `v`')
    }
    expect(() => regexpPattern(/a/, true)).toThrow('as a string')
  })
})
