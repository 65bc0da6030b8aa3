import { describe, expect, it } from 'vitest'
import { canonicalStringify } from './canonical.ts'
import { canonicalArguments, inKeyOrder } from './key-order.ts'

describe('inKeyOrder', () => {
  it.each([
    { b: 1, a: 2 },
    { b: { d: 1, c: 2 }, a: [{ z: 1, y: 2 }, 3] },
    { 10: 'ten', 9: 'nine', a: 1 },
    JSON.parse('{"b":1,"__proto__":{"d":1,"c":2}}') as object,
    { é: 1, z: 2, '\u{1f600}': 3, '\uffff': 4 },
  ])('gives what is read back from canonical JSON: %j', (value) => {
    const readBack = JSON.stringify(JSON.parse(canonicalStringify(value)))
    expect(JSON.stringify(inKeyOrder(value))).toBe(readBack)
  })

  it('gives the value itself when its keys are in order', () => {
    const value = { a: [{ b: 1, c: 2 }], d: 'x' }
    expect(inKeyOrder(value)).toBe(value)
  })

  it('leaves objects of classes, and values that hold themselves, as they are', () => {
    const bytes = new Uint8Array(2)
    const loop: { b: number; a?: unknown } = { b: 1 }
    loop.a = loop
    expect(inKeyOrder({ b: bytes, a: 1 })).toEqual({ a: 1, b: bytes })
    expect(Object.keys(inKeyOrder(loop))).toEqual(['a', 'b'])
  })
})

describe('canonicalArguments', () => {
  it('reads arguments strictly and puts their keys in order', () => {
    const args = canonicalArguments('{"b":{"d":1,"c":2},"a":1}')
    expect(JSON.stringify(args)).toBe('{"a":1,"b":{"c":2,"d":1}}')
    expect(Object.isFrozen(args) && Object.isFrozen(args['b'])).toBe(true)
    expect(() => canonicalArguments('{"a":1,"a":2}')).toThrow('twice')
  })
})
