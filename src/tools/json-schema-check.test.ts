import { Validator } from '@cfworker/json-schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../test/runs.ts'
import type { JsonObject } from '../core/json/json.ts'
import { jsonSchemaCheck } from './json-schema-check.ts'

const rules = fc.constantFrom<JsonObject>(
  { type: 'string' },
  { uniqueItems: true },
  { type: 'array', uniqueItems: true, items: { type: 'number' } },
  { not: { uniqueItems: true } },
  { anyOf: [{ type: 'array', uniqueItems: true }, { type: 'string' }] },
  { type: 'array', items: { uniqueItems: true } },
)
const short = fc.array(fc.constantFrom<JsonObject | number | string>(1, 'x', { a: 1 }, { a: 2 }))
const long = fc
  .tuple(fc.integer({ min: 60, max: 80 }), fc.subarray([3, 4]))
  .map(([length, again]) => [...Array.from({ length }, (_, i) => i), ...again])
const names = fc.constantFrom('a', 'b', 'c')
const values = fc.oneof(short, long, fc.constant('text'), fc.array(long, { maxLength: 2 }))

describe('jsonSchemaCheck', () => {
  it('gives the verdict of the library on lists of all lengths', () => {
    const verdicts = new Set<boolean>()
    fc.assert(
      fc.property(fc.dictionary(names, rules), fc.dictionary(names, values), (properties, args) => {
        const schema: JsonObject = { type: 'object', properties }
        const { valid } = new Validator(structuredClone(schema), '2020-12').validate(args)
        expect(jsonSchemaCheck(schema)(args, 8).length === 0).toBe(valid)
        verdicts.add(valid)
      }),
      { numRuns: runs(500) },
    )
    expect(verdicts.size).toBe(2)
  })

  it('finds equal items in a long list whatever the order of their keys', () => {
    const check = jsonSchemaCheck({ type: 'object', properties: { a: { uniqueItems: true } } })
    const items = Array.from({ length: 70 }, (_, i) => ({ x: i, y: i }))
    expect(check({ a: items }, 8)).toEqual([])
    expect(check({ a: [...items, { y: 3, x: 3 }] }, 8)).toMatchObject([{ path: 'a' }])
  })

  it('refuses long lists by their length where too many others repeat themselves', () => {
    const check = jsonSchemaCheck({ type: 'object', properties: { a: { uniqueItems: true } } })
    const a = Array.from({ length: 65 }, (_, i) => i)
    const others = (count: number) => Array.from({ length: count }, (_, i) => [...a, 0, i])
    expect(check({ a, others: others(16) }, 8)).toEqual([])
    expect(check({ a, others: others(17) }, 8)).toMatchObject([{ path: 'a' }])
  })
})
