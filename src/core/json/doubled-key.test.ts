import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { doubledKey } from './doubled-key.ts'

const found = (text: string) => doubledKey(text, JSON.parse(text), () => true)

describe('doubledKey', () => {
  it.each([
    ['{"a":1,"a":2}', ['a']],
    ['{"a":{"b":1,"b":1}}', ['a', 'b']],
    ['[{"a":"x:y"},{"b":1,"b":2}]', [1, 'b']],
    ['{"a":{"x":1,"y":2},"a":3}', ['a']],
    // As many colons as members are left, if one is hidden by an escape.
    ['{"a":"\\u003a","a":1}', ['a']],
    ['{"a" : 1, "a" : 2}', ['a']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ])('finds the key in %s', (text, path) => {
    expect(found(text)).toEqual(path)
  })

  it.each(['{}', '[]', '"a:b"', '{"a":"b:c:d"}', '{"a":{"a":1},"b":[{"a":1}]}'])(
    'finds none in %s',
    (text) => {
      expect(found(text)).toBeUndefined()
    },
  )

  it('finds none in what was written by `JSON.stringify`, however it nests', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(found(JSON.stringify(value))).toBeUndefined()
      }),
    )
  })

  it('finds a doubled key in any object, whatever stands around it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.jsonValue(), (before, name, value) => {
        const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`
        const text = `[${JSON.stringify(before)},{${member},${member}}]`
        expect(found(text)).toEqual([1, name])
      }),
    )
  })

  it('looks into values of 20,000 levels', () => {
    const deep = (inside: string) => `${'['.repeat(20_000)}${inside}${']'.repeat(20_000)}`
    expect(found(deep('{"a":1}'))).toBeUndefined()
    expect(found(deep('{"a":1,"a":2}'))).toHaveLength(20_001)
  })
})
