import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuTime } from '../../test/cpu-time.ts'
import { runs } from '../../test/runs.ts'
import { canonicalStringify } from './json/canonical.ts'
import { valueText } from './value-text.ts'

const trap = () => {
  throw new Error('no')
}
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const circle = () => {
  const value: Record<string, unknown> = { a: 1 }
  value['self'] = { value }
  return value
}
const nested = (depth: number, inner: unknown) => {
  let value = inner
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

const doubled = (times: number) => {
  let value: unknown = Number.NaN
  for (let i = 0; i < times; i++) value = [value, value]
  return value
}

describe('valueText', () => {
  it('tells values apart that JSON has no form for', () => {
    class Point {
      x: number
      constructor(x: number) {
        this.x = x
      }
    }
    const values = [
      undefined,
      null,
      true,
      5,
      [],
      [undefined],
      new Array(1),
      [null],
      new Array(2),
      {},
      { a: Number.NaN, b: 1 },
      { a: Number.NaN, b: 2 },
      { a: Number.POSITIVE_INFINITY },
      { a: Number.NEGATIVE_INFINITY },
      { a: 1n },
      { a: 17n },
      { a: -1n },
      { a: '\ud800' },
      { a: '\ud801' },
      { '\ud800': 1 },
      { a: () => 1 },
      { a: Symbol('x') },
      { a: Symbol('y') },
      { [Symbol('x')]: 1 },
      { [Symbol('x')]: 2 },
      { at: new Date(1) },
      { at: new Date(2) },
      { at: new Date(Number.NaN) },
      new Map([[1, 2]]),
      new Map([[1, 3]]),
      new Set([1]),
      new Point(1),
      new Point(2),
      Object('text'),
      Object('other'),
      new Uint16Array([1, 2]),
      new Uint16Array([1, 3]),
      /x/,
      circle(),
      Object.defineProperty({ b: 1 }, 'a', { get: trap, enumerable: true }),
      Object.defineProperty({ b: 2 }, 'a', { get: trap, enumerable: true }),
    ]
    const texts = values.map(valueText)
    expect(texts.filter((text, i) => texts.indexOf(text) !== i)).toEqual([])
    expect(values.map(valueText)).toEqual(texts)
  })

  it('reads like the value that was given', () => {
    expect(valueText({ n: 10n, list: [1, 'a', null] })).toBe('{"list":[1,"a",null],"n":10n}')
    expect(valueText({ m: new Map([['a', 1n]]), s: new Set([1, 2]) })).toBe(
      '{"m":map[["a",1n]],"s":set[1,2]}',
    )
    expect(valueText([-(10n ** 30n)])).toBe('[-1000000000000000000000000000000n]')
  })

  it('is the same whatever the order of the keys, and drops what JSON drops', () => {
    const text = valueText({ b: { d: 1n, c: 2 }, a: Number.NaN })
    expect(valueText({ a: Number.NaN, b: { c: 2, d: 1n } })).toBe(text)
    expect(valueText({ a: -0 })).toBe(valueText({ a: 0 }))
  })

  it('tells JSON values apart just as canonical JSON does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, two) => {
        expect(valueText(JSON.parse(JSON.stringify(one)))).toBe(valueText(one))
        const isSame = canonicalStringify(one) === canonicalStringify(two)
        expect(valueText(one) === valueText(two)).toBe(isSame)
      }),
      { numRuns: runs(1000) },
    )
  })

  it.each<[string, unknown]>([
    ['a revoked proxy', revoked()],
    ['a proxy that answers nothing', new Proxy({}, { ownKeys: trap, get: trap })],
    ['a list that answers nothing', new Proxy([], { get: trap, has: trap })],
    ['a look-alike of a Date', { [Symbol.toStringTag]: 'Date' }],
    ['a look-alike of a Map', { [Symbol.toStringTag]: 'Map' }],
    ['a tag that throws', Object.defineProperty({}, Symbol.toStringTag, { get: trap })],
  ])('does not throw for %s', (_, value) => {
    expect(valueText({ inner: value, after: 1 })).toContain('"after":1')
    expect(valueText({ inner: value })).toContain('unreadable')
  })

  it.each<[string, () => unknown]>([
    ['50 MB of text', () => 'x'.repeat(50_000_000)],
    ['50 MB of text in an object', () => Object('x'.repeat(50_000_000))],
    ['a list with four billion holes', () => new Array(2 ** 32 - 1)],
    ['a wide list', () => new Array(3_000_000).fill(1)],
    ['100,000 levels', () => nested(100_000, 1)],
    ['a large integer', () => 1n << 1_000_000n],
    ['shared parts that stand for 2^60 values', () => doubled(60)],
    ['a large map', () => new Map(Array.from({ length: 400_000 }, (_, i) => [i, i]))],
    ['bytes', () => new Float64Array(4_000_000)],
  ])('is bounded for %s', (_, make) => {
    const value = make()
    const start = cpuTime()
    expect(valueText(value).length).toBeLessThan(5 * 1024 * 1024)
    expect(cpuTime() - start).toBeLessThan(3_000)
  })

  it('tells by their size apart what goes on beyond the bounds', () => {
    const size = 5 * 1024 * 1024
    expect(valueText('x'.repeat(size))).not.toBe(valueText('x'.repeat(size + 1)))
    expect(valueText(new Array(size))).not.toBe(valueText(new Array(size + 1)))
  })
})
