import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { PartialArgs } from './partial-args.ts'

function written(...pieces: JsonValue[]): string {
  const args = new PartialArgs()
  const deltas = pieces.map((piece) => args.push(piece))
  expect([...deltas, args.close()].join('')).toBe(args.text)
  return args.text
}

/** The leaves of a value as the provider streams them, strings in pieces of two characters. */
function leaves(value: JsonValue, path = '$'): JsonObject[] {
  if (typeof value === 'string') {
    const pieces = value.match(/[\s\S]{1,2}/g) ?? []
    const begun = pieces.map((stringValue) => ({ jsonPath: path, stringValue, willContinue: true }))
    return [...begun, { jsonPath: path, stringValue: '' }]
  }
  if (typeof value === 'number') return [{ jsonPath: path, numberValue: value }]
  if (typeof value === 'boolean') return [{ jsonPath: path, boolValue: value }]
  if (value === null) return [{ jsonPath: path, nullValue: 'NULL_VALUE' }]
  return Object.entries(value).flatMap(([key, member]) =>
    leaves(member, Array.isArray(value) ? `${path}[${key}]` : `${path}[${JSON.stringify(key)}]`),
  )
}

const isFull = (value: JsonValue): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.keys(value).length > 0 && Object.values(value).every(isFull))

describe('PartialArgs', () => {
  it('writes any object whose containers hold something', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ depthSize: 'medium' }), { minKeys: 1 })
    fc.assert(
      fc.property(object, (raw) => {
        const value = JSON.parse(JSON.stringify(raw)) as JsonObject
        fc.pre(isFull(value))
        expect(JSON.parse(written(...leaves(value)))).toEqual(value)
      }),
    )
  })

  it.each([
    ['$.a.b[0].c', '{"a":{"b":[{"c":1}]}}'],
    ["$['it\\'s \"x\"'].y", '{"it\'s \\"x\\"":{"y":1}}'],
    ['$["\\u00e9"]', '{"é":1}'],
    ['$.__proto__.x', '{"__proto__":{"x":1}}'],
    ['$.a[0][0]', '{"a":[[1]]}'],
  ])('writes a leaf at %s', (jsonPath, text) => {
    expect(written({ jsonPath, numberValue: 1 })).toBe(text)
  })

  it.each([
    ['no path', {}],
    ['the root', { jsonPath: '$', numberValue: 1 }],
    ['a root that is a list', { jsonPath: '$[0]', numberValue: 1 }],
    ['a list that does not begin', { jsonPath: '$.a[1]', numberValue: 1 }],
    ['an index that is not a number', { jsonPath: '$.a[*]', numberValue: 1 }],
    ['an invalid escape', { jsonPath: '$["\\q"]', numberValue: 1 }],
    ['a kind of value that we do not know', { jsonPath: '$.a', listValue: [] }],
    ['NaN as a number', { jsonPath: '$.a', numberValue: Number.NaN }],
    ['no object', 'text'],
  ])('writes %s as no JSON', (_, piece) => {
    expect(() => JSON.parse(written(piece as JsonValue)) as unknown).toThrow(SyntaxError)
  })

  it.each([
    ['a leaf inside of a leaf', '$.a', '$.a.b'],
    ['a leaf around a leaf', '$.a.b', '$.a'],
    ['a list that becomes an object', '$.a[0]', '$.a.b'],
    ['an index that is left out', '$.a[0]', '$.a[2]'],
    ['an index again', '$.a[0]', '$.a[0]'],
  ])('writes %s as no JSON', (_, first, second) => {
    const pieces = [first, second].map((jsonPath) => ({ jsonPath, numberValue: 1 }))
    expect(() => JSON.parse(written(...pieces)) as unknown).toThrow(SyntaxError)
  })

  it('leaves a key that comes twice for the parser to find', () => {
    const pieces = ['$.a', '$.b', '$.a'].map((jsonPath) => ({ jsonPath, numberValue: 1 }))
    expect(written(...pieces)).toBe('{"a":1,"b":1,"a":1}')
  })

  it('says that a string waits for more', () => {
    const args = new PartialArgs()
    args.push({ jsonPath: '$.a', stringValue: 'x', willContinue: true })
    expect(args.close()).toBe('')
    expect(args.isOpen).toBe(true)
    expect(args.text).toBe('{"a":"x')
  })

  it('refuses another leaf while a string waits for more', () => {
    const open = { jsonPath: '$.a', stringValue: 'x', willContinue: true }
    const text = written(
      open,
      { jsonPath: '$.b', numberValue: 1 },
      { jsonPath: '$.c', numberValue: 2 },
    )
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError)
  })

  it('joins the halves of a surrogate pair', () => {
    const [high = '', low = ''] = '🌊'.split('')
    const text = written(
      { jsonPath: '$.a', stringValue: high, willContinue: true },
      { jsonPath: '$.a', stringValue: low },
    )
    expect(JSON.parse(text)).toEqual({ a: '🌊' })
  })
})
