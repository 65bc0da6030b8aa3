import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementsAt, memberAt, textAt } from './json-scan.ts'

const spaces = fc.constantFrom(undefined, 1, 2, '\t', '\n \r')

describe('memberAt, elementsAt and textAt', () => {
  it('finds every member of any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), spaces, (object, space) => {
        const source = JSON.stringify(object, null, space)
        for (const [name, value] of Object.entries(object)) {
          const found: unknown = JSON.parse(textAt(source, memberAt(source, 0, name)))
          expect(found).toEqual(JSON.parse(JSON.stringify(value)))
        }
      }),
    )
  })

  it('finds every element of any list', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), spaces, (list, space) => {
        const source = JSON.stringify(list, null, space)
        const found = elementsAt(source, 0).map((at): unknown => JSON.parse(textAt(source, at)))
        expect(found).toEqual(JSON.parse(JSON.stringify(list)))
      }),
    )
  })

  it('takes the last of duplicate members, as parsing does', () => {
    const source = '{"a":1,"\\u0061":{"b":1,"b":2}}'
    expect(textAt(source, memberAt(source, 0, 'a'))).toBe('{"b":1,"b":2}')
  })

  it.each(['{"a":', '{"a":"\\', '{"a":[[[', '[1,', '[}', '{', ''])(
    'stops at the end of %o, which is not JSON',
    (text) => {
      expect(textAt(text, memberAt(text, 0, 'a')).length).toBeLessThanOrEqual(text.length)
      expect(elementsAt(text, 0).length).toBeLessThanOrEqual(text.length)
    },
  )

  it('takes time that grows with the text alone', () => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)},"b":1}`
    expect(textAt(deep, memberAt(deep, 0, 'b'))).toBe('1')
  })
})
