import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sortKeys } from './sort-keys.ts'

const MANY = 1500

/** Many different keys: short ones from few letters, so that they share beginnings. */
function keys(unit: fc.Arbitrary<string>): fc.Arbitrary<string[]> {
  return fc.uniqueArray(fc.string({ unit, maxLength: 12 }), {
    minLength: MANY,
    maxLength: MANY,
    size: 'max',
  })
}

describe('sortKeys', () => {
  it.each<[string, fc.Arbitrary<string>]>([
    ['few letters', fc.constantFrom('a', 'b', '\0', '\xff')],
    ['letters of two bytes among others', fc.constantFrom('a', 'b', 'Ā', '\ud800', '\uffff')],
    ['all characters', fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })],
  ])('sorts many keys of %s as the built-in sort does', (_, unit) => {
    fc.assert(
      fc.property(keys(unit), (input) => {
        expect(sortKeys([...input])).toEqual([...input].sort())
      }),
      { numRuns: 20 },
    )
  })

  it.each([
    ['a long common beginning', (i: number) => `${'x'.repeat(500)}${(i * 7919) % 3000}`],
    ['each the beginning of the next', (i: number) => 'x'.repeat((i * 7919) % 3000)],
    ['integer-like', (i: number) => String((i * 7919) % 3000)],
  ])('sorts keys that are %s', (_, make) => {
    const input = Array.from({ length: 3000 }, (_unused, i) => make(i))
    expect(sortKeys([...input])).toEqual([...input].sort())
  })

  it('sorts few keys and none', () => {
    expect(sortKeys(['b', 'a', '10', '9', ''])).toEqual(['', '10', '9', 'a', 'b'])
    expect(sortKeys([])).toEqual([])
  })
})
