import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../core/json/json.ts'
import { runAtOnce } from '../query/steps.ts'
import { fieldSatisfies, keysOf, lookUp, lookUpSteps } from './json-lookup.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function find(text: string, path: readonly string[]): JsonValue | undefined {
  const found = runAtOnce(lookUp(encode(text), lookUpSteps(path)))
  return found && (JSON.parse(new TextDecoder().decode(found.bytes)) as JsonValue)
}

/** Every path into a value, with what is there. */
function* places(value: JsonValue, path: string[] = []): Generator<[string[], JsonValue]> {
  yield [path, value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield* places(inner, [...path, key])
}

describe('lookUp', () => {
  it('finds what JSON.parse holds at every path, and nothing beside it', () => {
    const keys = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom('__proto__', 'a', '0', '"', '\\', 'é', '👋', ''),
    )
    const value = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true }), fc.boolean()),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
      ),
    })).value
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (given, indent) => {
        const text = JSON.stringify(given, null, indent)
        for (const [path, expected] of places(JSON.parse(text) as JsonValue)) {
          expect(find(text, path)).toEqual(expected)
          expect(find(text, [...path, 'not there'])).toBeUndefined()
        }
      }),
    )
  })

  it('takes the first of equal keys, however they are written', () => {
    expect(find('{"a":1,"a":2}', ['a'])).toBe(1)
    expect(find('{"b":0,"\\u0061":3,"a":4}', ['a'])).toBe(3)
  })

  it('takes whole numbers for positions, and no other text', () => {
    expect(find('[10,20]', ['1'])).toBe(20)
    for (const step of ['2', '-1', '01', '1.0', 'length', '']) {
      expect(find('[10,20]', [step])).toBeUndefined()
    }
  })
})

describe('keysOf', () => {
  it('lists keys in the order of the text, up to a limit', () => {
    const keys = (limit: number) => runAtOnce(keysOf(encode('{"b":{"x":1},"10":0,"a":[]}'), limit))
    expect(keys(9)).toEqual(['b', '10', 'a'])
    expect(keys(2)).toEqual(['b', '10'])
    expect(runAtOnce(keysOf(encode('[1,{"a":2}]'), 9))).toEqual([])
  })
})

describe('fieldSatisfies', () => {
  const list = (size: number) => encode(`{"list":[${'"y",'.repeat(size)}"x"],"deep":{"n":1}}`)
  const fits = (item: Uint8Array, path: string, operator: 'contains' | 'equals' | 'exists') =>
    runAtOnce(fieldSatisfies(item, lookUpSteps([path]), operator, 'x'))

  it('looks into lists of any length, and into nothing else', () => {
    expect(fits(list(10), 'list', 'contains')).toBe(true)
    expect(fits(list(100_000), 'list', 'contains')).toBe(true)
    expect(fits(encode(`{"list":[${'"y",'.repeat(100_000)}0]}`), 'list', 'contains')).toBe(false)
    expect(fits(list(10), 'deep', 'contains')).toBe(false)
    expect(fits(list(100_000), 'list', 'equals')).toBe(false)
    expect(fits(list(100_000), 'deep', 'exists')).toBe(true)
    expect(fits(list(100_000), 'none', 'exists')).toBe(false)
  })
})
