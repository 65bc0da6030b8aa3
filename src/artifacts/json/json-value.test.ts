import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/runs.ts'
import { runAtOnce } from '../query/steps.ts'
import { valueOfBytes } from './json-value.ts'

const valueOf = (text: string) => runAtOnce(valueOfBytes(new TextEncoder().encode(text)))
/** Enough space to be built in steps, whatever stands behind it. */
const LARGE = ' '.repeat(40_000)

describe('valueOfBytes', () => {
  it('gives what JSON.parse gives', () => {
    const key = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('__proto__', '0', '\\', '"'),
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue({ stringUnit: 'binary' }),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(tree, fc.constantFrom('', ' ', '\t', '\n'), (value, space) => {
        const text = `[${LARGE}${JSON.stringify(value, null, space)}${space}]`
        const built = valueOf(text)
        expect(built).toEqual(JSON.parse(text))
        expect(JSON.stringify(built)).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: runs(300) },
    )
  })

  it.each([
    '{"a":1,"b":2,"a":3}',
    '{"__proto__":{"x":1},"__proto__":2}',
    '{"2":0,"1":0,"":{"":[]}}',
    '[-0,1E5,1e-7,0.10,12345678901234567890]',
    '["\\ud800","\\\\","\\"","\\u0022",""]',
    `${'['.repeat(1_000)}${']'.repeat(1_000)}`,
    '"text"',
    '-1.5e+3',
    'true',
    '[[],{},[{}],{"a":[]}]',
  ])('gives what JSON.parse gives for %s', (json) => {
    const built = valueOf(LARGE + json)
    expect(built).toEqual(JSON.parse(json))
    expect(JSON.stringify(built)).toBe(JSON.stringify(JSON.parse(json)))
  })

  it('makes nobody a prototype', () => {
    const built = valueOf(`{"__proto__":{"isAdmin":true}${LARGE}}`) as Record<string, unknown>
    expect(Object.getPrototypeOf(built)).toBe(Object.prototype)
    expect(built['isAdmin']).toBeUndefined()
  })

  it('takes many steps for what is large', () => {
    const steps = valueOfBytes(new TextEncoder().encode(`[${'{},'.repeat(100_000)}0]`))
    let count = 0
    while (!steps.next().done) count++
    expect(count).toBeGreaterThan(100)
  })
})
