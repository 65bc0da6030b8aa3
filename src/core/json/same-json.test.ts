import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalStringify } from './canonical.ts'
import type { JsonValue } from './json.ts'
import { sameJson } from './same-json.ts'

describe('sameJson', () => {
  it('agrees with canonical JSON', () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(sameJson(structuredClone(a), a)).toBe(true)
        expect(sameJson(a, b)).toBe(canonicalStringify(a) === canonicalStringify(b))
      }),
    )
  })

  it('does not mind the order of keys', () => {
    expect(sameJson({ b: [1, { d: 2, c: 3 }], a: null }, { a: null, b: [1, { c: 3, d: 2 }] })).toBe(
      true,
    )
  })

  it.each([
    ['a value more', { a: 1, b: 2 }, { a: 1 }],
    ['a value less', { a: 1 }, { a: 1, b: 2 }],
    ['an item more', [1, 2], [1]],
    ['an item less', [1], [1, 2]],
    ['an undefined value', { a: undefined }, { a: null }],
    ['another value', { a: '1' }, { a: 1 }],
    ['an inherited value', { b: 1 }, { toString: 1 }],
    ['a Date', { a: new Date(0) }, { a: {} }],
    ['a list for an object', { a: [] }, { a: {} }],
    ['a null prototype', { __proto__: null, a: 1 }, { a: 1 }],
  ] as [string, unknown, JsonValue][])('tells %s', (_, value, json) => {
    expect(sameJson(value, json)).toBe(false)
  })
})
