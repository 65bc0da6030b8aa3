import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import oracle from 'fast-json-stable-stringify'
import { describe, expect, it } from 'vitest'
import { cpuTime } from '../../../test/cpu-time.ts'
import { runs } from '../../../test/runs.ts'
import { slowness } from '../../../test/yardstick.ts'
import { CANONICAL_DEPTH_LIMIT, canonicalStringify } from './canonical.ts'

/** The definition, as plainly as it can be put: for JSON values only. */
function plainly(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plainly).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${plainly((value as Record<string, unknown>)[key])}`)
  return `{${members.join(',')}}`
}

const lawful = (value: unknown) => plainly(JSON.parse(JSON.stringify(value)))

/** Awkward keys: integer-like, prototype names, escapes, both sides of the surrogates. */
const key = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toJSON',
    '10',
    '9',
    '-1',
    '01',
    '',
    '\ud800',
    '\uffff',
  ),
  fc.nat(300).map(String),
)

/** JSON values of any shape, built in random key order; large ones leave the short cut for small ones. */
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(
      fc.double(),
      fc.integer(),
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.uniqueArray(fc.tuple(key, tie('value')), { maxLength: 24, selector: ([k]) => k }).map(own),
  ),
})).value

function own(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries)
}

/** Everything else that `JSON.stringify` accepts. */
const loose = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    json,
    fc.constantFrom(undefined, Number.NaN, Number.POSITIVE_INFINITY, -0, () => 1, Symbol('s')),
    fc
      .oneof(fc.string(), fc.double(), fc.boolean())
      .map((primitive) => Object(primitive) as object),
    fc.date().map((date) => date),
    tie('value').map((value) => ({ z: 1, toJSON: () => value })),
    tie('value').map((value) => Object.assign(Object.create(null), { z: value, a: value })),
    tie('value').map((value) =>
      Object.create({ inherited: 1 }, { own: { value, enumerable: true } }),
    ),
    tie('value').map((value) => Object.assign(new (class Thing {})(), { z: value, a: 1 })),
    tie('value').map((value) => new Proxy({ z: value, a: 1 }, {})),
    tie('value').map((value) => new Proxy([value], {})),
    tie('value').map((value) => Object.assign(new Array(3), { 1: value })),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 6 }).map(own),
  ),
})).value

function shuffled(value: unknown, flip: boolean): unknown {
  if (Array.isArray(value)) return value.map((member) => shuffled(member, flip))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([k, v]) => [k, shuffled(v, !flip)] as const)
  return own(flip ? entries.reverse() : entries)
}

/** Makes a value too large for the way that small ones take. */
const filler = Array.from({ length: 40 }, (_, i) => i)

describe('canonicalStringify', () => {
  it('writes whatever JSON.stringify accepts as its JSON, keys sorted', () => {
    fc.assert(
      fc.property(loose, (value) => {
        fc.pre(JSON.stringify(value) !== undefined)
        expect(canonicalStringify(value)).toBe(lawful(value))
      }),
      { numRuns: runs(1500) },
    )
  })

  it('is idempotent', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalStringify(value)
        expect(canonicalStringify(JSON.parse(text))).toBe(text)
      }),
    )
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(json, fc.boolean(), (value, flip) => {
        expect(canonicalStringify(shuffled(value, flip))).toBe(canonicalStringify(value))
      }),
    )
  })

  it('gives equal texts for equal JSON values only', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const [left, right] = [a, b].map((value) => JSON.parse(JSON.stringify(value)) as unknown)
        const equal = canonicalStringify(left) === canonicalStringify(right)
        // The text parses back to the very value, so two values cannot share it.
        expect(JSON.parse(canonicalStringify(left))).toEqual(left)
        if (equal) expect(left).toEqual(right)
      }),
    )
  })

  it('agrees with fast-json-stable-stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(canonicalStringify(value)).toBe(oracle(value))
      }),
    )
  })

  it.each([
    ['undefined', undefined, 'null'],
    ['a function', () => 1, 'null'],
    ['a symbol', Symbol('x'), 'null'],
    ['NaN', Number.NaN, 'null'],
    ['minus zero', [-0, { b: -0, a: -0 }], '[0,{"a":0,"b":0}]'],
    ['lone surrogates', { '\udc00': '\ud800' }, '{"\\udc00":"\\ud800"}'],
    ['integer-like keys', { 9: 1, 10: 2, a: 3 }, '{"10":2,"9":1,"a":3}'],
    ['a sparse array', [, 1, ,], '[null,1,null]'],
    ['undefined members', { b: undefined, a: [undefined] }, '{"a":[null]}'],
    ['a boxed string', { b: new String('x'), a: 1 }, '{"a":1,"b":"x"}'],
    [
      'a boxed number in disguise',
      { b: Object.setPrototypeOf(new Number(5), Object.prototype), a: 1 },
      '{"a":1,"b":null}',
    ],
    [
      'a boxed number with keys',
      { c: filler, b: Object.assign(new Number(5), { z: 1, a: 2 }) },
      `{"b":5,"c":${JSON.stringify(filler)}}`,
    ],
    ['a long boxed string', new String('x'.repeat(5_000)), `"${'x'.repeat(5_000)}"`],
    ['a Date', { b: new Date(0), a: 1 }, '{"a":1,"b":"1970-01-01T00:00:00.000Z"}'],
    ['a Map', { b: new Map([[1, 2]]), a: 1 }, '{"a":1,"b":{}}'],
    [
      'an object of another realm',
      runInNewContext('({ b: [{ d: 1, c: 2 }], a: 1 })'),
      '{"a":1,"b":[{"c":2,"d":1}]}',
    ],
  ])('writes %s', (_, value, text) => {
    expect(canonicalStringify(value)).toBe(text)
  })

  it('treats __proto__ as a key like any other', () => {
    const value = JSON.parse('{"z":1,"__proto__":{"b":1,"a":2}}')
    const large = {
      ...JSON.parse('{"z":{"__proto__":1,"A":2}}'),
      list: Array.from({ length: 40 }, String),
    }
    expect(canonicalStringify(value)).toBe('{"__proto__":{"a":2,"b":1},"z":1}')
    expect(canonicalStringify(large)).toBe(plainly(large))
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it('calls toJSON with the key and does not call that of its answer', () => {
    const seen: string[] = []
    const answer = { toJSON: () => 'never', b: 1, a: 2 }
    const value = {
      list: [{ toJSON: (k: string) => (seen.push(k), answer) }],
      big: { toJSON: (k: string) => seen.push(k) },
    }
    expect(canonicalStringify(value)).toBe('{"big":1,"list":[{"a":2,"b":1}]}')
    expect(seen).toEqual(['big', '0'])
  })

  it('honours a toJSON that is not enumerable', () => {
    const value = Object.defineProperty({ a: 1 }, 'toJSON', { value: () => ({ z: 1, y: 2 }) })
    expect(canonicalStringify(value)).toBe('{"y":2,"z":1}')
  })

  it('leaves out what objects only inherit, even from a polluted Object.prototype', () => {
    const rows = Array.from({ length: 20 }, (_, i) => ({ id: i, at: i }))
    const values = [
      { rows, a: 1 },
      { b: 1, a: 1 },
      { rows: [1], a: true },
    ]
    const polluted = { value: { b: 1, a: 1 }, enumerable: true, configurable: true }
    Object.defineProperty(Object.prototype, 'polluted', polluted)
    const texts = values.map(canonicalStringify)
    delete (Object.prototype as { polluted?: unknown }).polluted
    expect(texts).toEqual(values.map(plainly))
  })

  it.each([100, 5_000])('sorts an object of %i keys', (width) => {
    const flat = own(Array.from({ length: width }, (_, i) => [`k${(i * 7919) % width}`, i]))
    const digits = own(Array.from({ length: width }, (_, i) => [`${i * 3}`, `${i}`]))
    const nested = own(
      Array.from({ length: width }, (_, i) => [`k${(i * 7919) % width}`, { z: i, a: 1 }]),
    )
    for (const value of [
      flat,
      digits,
      nested,
      { flat, digits, nested },
      JSON.parse(plainly(flat)),
    ]) {
      expect(canonicalStringify(value)).toBe(plainly(value))
    }
  })
})

const nest = (levels: number, step: (inner: unknown) => unknown, core: unknown = 1) => {
  let value = core
  for (let i = 0; i < levels; i++) value = step(value)
  return value
}

const steps = {
  arrays: (inner: unknown) => [inner],
  'sorted objects': (inner: unknown) => ({ a: inner }),
  'unsorted objects': (inner: unknown) => ({ b: 1, a: inner }),
  'objects with digits': (inner: unknown) => ({ 9: 1, 10: inner }),
}

describe('canonicalStringify on hostile input', () => {
  it.each(Object.entries(steps))(
    'takes %s up to the limit and refuses one level more',
    (_, step) => {
      const allowed = nest(CANONICAL_DEPTH_LIMIT, step)
      expect(canonicalStringify(allowed)).toBe(lawful(allowed))
      const error = { code: 'E_JSON_TOO_DEEP', data: { limit: CANONICAL_DEPTH_LIMIT } }
      for (const levels of [CANONICAL_DEPTH_LIMIT + 1, 100_000]) {
        expect(() => canonicalStringify(nest(levels, step))).toThrow(expect.objectContaining(error))
      }
    },
  )

  it('refuses depth that toJSON makes', () => {
    const endless: object = { toJSON: () => ({ next: endless }) }
    // Each answer is a new object, so this is no circle, only endless.
    expect(() => canonicalStringify(endless)).toThrow(
      expect.objectContaining({ code: 'E_JSON_TOO_DEEP' }),
    )
  })

  it.each([1, 2, 7, 100, 400, 999])(
    'throws a plain TypeError for a circle of %i objects',
    (length) => {
      for (const step of Object.values(steps)) {
        const first: Record<string, unknown> = {}
        first['a'] = nest(length - 1, step, first)
        const ahead = nest(length > 400 ? 1 : 300, steps.arrays, first)
        for (const value of [first, ahead]) {
          const error = catchError(() => canonicalStringify(value))
          expect(error).toBeInstanceOf(TypeError)
          expect(error).not.toHaveProperty('code')
        }
      }
    },
  )

  it('does not write what stands beside a circle over and over', () => {
    const rows = Array.from({ length: 12_500 }, (_, i) => ({ id: i, at: i }))
    const numbers = new Array(500_000).fill(1)
    for (const wide of [rows, numbers]) {
      const loops: { z: unknown }[] = [
        { a: wide, z: 1 } as { z: unknown },
        { b: 1, a: wide, z: 1 } as { z: unknown },
        { 9: 1, 10: wide, z: 1 } as { z: unknown },
      ]
      for (const loop of loops) {
        loop.z = [loop]
        const started = cpuTime()
        expect(() => canonicalStringify(loop)).toThrow(TypeError)
        expect((cpuTime() - started) / slowness()).toBeLessThan(400)
      }
    }
  })

  it('writes shared references wherever they stand, without calling them circles', () => {
    const shared = { b: 1, a: [{}] }
    const value = { y: shared, x: [shared, shared, { shared }] }
    expect(canonicalStringify(value)).toBe(lawful(value))
  })

  it('refuses holes and shared references that stand for more than can be written, in no time', () => {
    const holes: unknown[] = []
    holes.length = 2 ** 32 - 1
    const double = (inner: unknown) => [inner, inner]
    const values = [
      holes,
      { a: [holes], b: 1 },
      { b: [holes], a: 1 },
      { 9: 1, 10: holes },
      { toJSON: () => holes },
      new Array(100).fill(new Array(2_000_000).fill(1)),
      { b: new Array(100).fill(new Array(2_000_000).fill(1)), a: 1 },
      nest(60, double),
    ]
    const error = { code: 'E_JSON_TOO_LARGE', data: { what: 'members', limit: 2 ** 24 } }
    for (const value of values) {
      const started = cpuTime()
      expect(() => canonicalStringify(value)).toThrow(expect.objectContaining(error))
      // Writing what would fit takes seconds.
      expect((cpuTime() - started) / slowness()).toBeLessThan(1_000)
    }
  })

  it('says that a text would be too long in the words of the package', () => {
    const value = { long: { toJSON: () => 'x'.repeat(2 ** 30) } }
    expect(() => canonicalStringify(value)).toThrow(
      expect.objectContaining({
        code: 'E_JSON_TOO_LARGE',
        data: { what: 'characters', limit: 2 ** 29 },
      }),
    )
  })

  it.each(['in a small value', 'in a large one'])(
    'throws a plain TypeError for a BigInt %s',
    (where) => {
      const rest = where === 'in a small value' ? [] : Array.from({ length: 100 }, String)
      for (const value of [
        { rest, n: 1n },
        { rest, n: [Object(1n)] },
      ]) {
        expect(() => canonicalStringify(value)).toThrow(TypeError)
      }
      expect(() => canonicalStringify(1n)).toThrow(TypeError)
    },
  )
})

describe('canonicalStringify on large parts', () => {
  it('counts a part as often as it stands there', () => {
    const part = new Array(2 ** 20).fill(1)
    expect(canonicalStringify(new Array(3).fill(part))).toHaveLength(3 * (2 ** 21 + 1) + 4)
    expect(() => canonicalStringify(new Array(16).fill(part))).toThrow(
      expect.objectContaining({ code: 'E_JSON_TOO_LARGE' }),
    )
  })

  it('counts a boxed text as one member', () => {
    const value = new Array(1_700).fill(Object('x'.repeat(10_000)))
    expect(canonicalStringify(value)).toBe(JSON.stringify(value))
  })

  it('calls the toJSON of a shared part at each of its places', () => {
    let calls = 0
    const shared = [{ toJSON: () => ++calls }, ...new Array(2_000).fill(0)]
    expect(canonicalStringify([shared, shared])).toBe(
      JSON.stringify([1, 2].map((call) => [call, ...new Array(2_000).fill(0)])),
    )
  })
})

function catchError(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  throw new Error('did not throw')
}
