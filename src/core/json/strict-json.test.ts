import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuTime } from '../../../test/cpu-time.ts'
import { isBobbinError } from '../error/error.ts'
import type { ArgumentRule } from '../error/error-codes.ts'
import {
  ARGUMENT_LIMITS,
  normalizeArguments,
  normalizeJson,
  parseArguments,
} from './strict-json.ts'

/** What a refusal says, and how long it took. */
function refused(act: () => unknown): { rule: string; path: string; message: string; ms: number } {
  const started = cpuTime()
  try {
    act()
  } catch (error) {
    const ms = cpuTime() - started
    if (!isBobbinError(error, 'E_INVALID_ARGUMENTS')) throw error
    return { ...error.data, message: error.message, ms }
  }
  throw new Error('was accepted')
}

type Refusal = [text: string, rule: ArgumentRule, path: string]

const texts: Refusal[] = [
  ['', 'not-json', 'args'],
  ['{', 'not-json', 'args'],
  ['{"a":1', 'not-json', 'args'],
  ['{"a":1}}', 'not-json', 'args'],
  ["{'a':1}", 'not-json', 'args'],
  ['{"a":NaN}', 'not-json', 'args'],
  ['{"a":01}', 'not-json', 'args'],
  ['{"a":1,}', 'not-json', 'args'],
  ['{"a":"\\ud8"}', 'not-json', 'args'],
  ['{"a":"unterminated', 'not-json', 'args'],
  ['{"a":"\\', 'not-json', 'args'],
  ['{"a":1} // why', 'not-json', 'args'],
  ['\ufeff{}', 'not-json', 'args'],
  ['[1]', 'not-an-object', 'args'],
  ['"text"', 'not-an-object', 'args'],
  ['null', 'not-an-object', 'args'],
  ['{"a":1,"a":1}', 'duplicate-key', 'args.a'],
  ['{"a":1,"\\u0061":2}', 'duplicate-key', 'args.a'],
  ['{"x":[0,{"b":{},"b":{}}]}', 'duplicate-key', 'args.x[1].b'],
  ['{"a":{"b":1},"c":{"b":1,"":2,"":3}}', 'duplicate-key', 'args.c[""]'],
  ['{"__proto__":1,"__proto__":2}', 'duplicate-key', 'args.__proto__'],
  ['{"a:b":":","c":[{"d:":1,"d:":2}]}', 'duplicate-key', 'args.c[0]["d:"]'],
  ['{"a":9007199254740993}', 'unsafe-integer', 'args.a'],
  ['{"a":[1,-9007199254740992]}', 'unsafe-integer', 'args.a[1]'],
  [`{"a":1${'0'.repeat(400)}}`, 'unsafe-integer', 'args.a'],
  [`{"a":1${'0'.repeat(21)}}`, 'unsafe-integer', 'args.a'],
  ['{"a":1e17}', 'unsafe-integer', 'args.a'],
  ['{"a":9007199254740993.0}', 'unsafe-integer', 'args.a'],
  ['{"a":{"b":1e400}}', 'not-finite', 'args.a.b'],
  ['{"a":[-1.5E999]}', 'not-finite', 'args.a[0]'],
  ['{"a":"\\ud800"}', 'lone-surrogate', 'args.a'],
  ['{"a":["ok","\\ud83d\\ude02\\udc00"]}', 'lone-surrogate', 'args.a[1]'],
  ['{"a":"\ud800"}', 'lone-surrogate', 'args.a'],
  ['{"\\uDFFF":1}', 'lone-surrogate', 'args["\ufffd"]'],
  [
    `${'{"a":'.repeat(501)}1${'}'.repeat(501)}`,
    'too-deep',
    `args${'.a'.repeat(8)}…${'.a'.repeat(8)}`,
  ],
  [`{"a":"${'x'.repeat(ARGUMENT_LIMITS.chars)}"}`, 'too-large', 'args'],
]

describe('parseArguments', () => {
  it.each(texts)('refuses %.40s as %s', (text, rule, path) => {
    const refusal = refused(() => parseArguments(text))
    expect(refusal).toMatchObject({ rule, path })
    expect(refusal.message).toContain(`\`${path}\``)
    expect(refusal.message.length).toBeLessThan(300)
  })

  it('takes every JSON object that breaks no rule, as JSON.parse gives it', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), safeJson),
        fc.nat(3),
        (value, indent) => {
          const text = JSON.stringify(value, null, indent)
          expect(parseArguments(text)).toEqual(JSON.parse(text))
          expect(parseArguments(escaped(text))).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  it('finds a duplicate wherever it stands', () => {
    const keys = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 5 }), { minLength: 1 })
    fc.assert(
      fc.property(keys, fc.nat(), fc.array(fc.boolean()), (names, pick, nesting) => {
        const twice = [...names, names[pick % names.length] as string]
        let text = `{${twice.map((name) => `${JSON.stringify(name)}: ${JSON.stringify('":\\')}`).join(' ,\n')}}`
        for (const inArray of nesting) text = inArray ? `{"list":[1,${text}]}` : `{"o":${text}}`
        expect(refused(() => parseArguments(text)).rule).toBe('duplicate-key')
      }),
    )
  })

  it.each([
    ['a number as long as decimals go', '{"a":0.30000000000000004440892098500626}'],
    ['decimals that round', '{"a":1.00000000000000000001}'],
    ['the largest safe integers', '{"a":[9007199254740991,-9007199254740991]}'],
    ['numbers beyond 1e21 with an exponent', '{"a":[1e21,1.5e300,1E+22]}'],
    ['escaped pairs', '{"\\ud83d\\ude02":"\\uD83D\\uDE02"}'],
    ['an escaped backslash before u', '{"a":"\\\\ud800"}'],
    ['brackets behind an escaped quote', `{"a":"\\"${'['.repeat(600)}"}`],
    ['whitespace around', ' \n{"a" : [ ] }\t'],
    ['the deepest allowed', `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`],
    ['digits in strings', '{"a":"9007199254740993","9007199254740993":"1e400"}'],
  ])('takes %s', (_, text) => {
    expect(parseArguments(text)).toEqual(JSON.parse(text))
  })

  it('says where a text breaks off without quoting it', () => {
    for (const text of ['{"secret":"abc', '{"secret":1', '{"secret"', '{', '']) {
      expect(refused(() => parseArguments(text)).message).toMatch(/ends too early/)
    }
    expect(refused(() => parseArguments(`{"secret": oops${' '.repeat(99)}}`)).message).not.toMatch(
      /secret|oops/,
    )
  })

  it.each<[string, string, ArgumentRule]>([
    ['100,000 duplicate keys', `{${'"a":1,'.repeat(100_000)}"b":1}`, 'duplicate-key'],
    ['a duplicate after 100,000 keys', `{${numbered(100_000)},"k5":1}`, 'duplicate-key'],
    ['20,000 levels', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'too-deep'],
    ['2,000,000 opening brackets', '['.repeat(2_000_000), 'too-deep'],
    ['5 MB', `{"a":"${'x'.repeat(5_000_000)}"}`, 'too-large'],
    ['4 MB of backslashes', `{"a":"${'\\'.repeat(4_000_001)}`, 'not-json'],
    ['4 MB of quotes', '"'.repeat(4_000_000), 'not-json'],
    ['a number of 4,000,000 digits', `{"a":${'9'.repeat(4_000_000)}}`, 'unsafe-integer'],
    [
      '300,000 pairs, then half of one',
      `{"a":"${'\\ud83d\\ude02'.repeat(300_000)}\\ud800"}`,
      'lone-surrogate',
    ],
  ])('refuses %s in linear time', (_, text, rule) => {
    const refusal = refused(() => parseArguments(text))
    expect(refusal.rule).toBe(rule)
    expect(refusal.ms).toBeLessThan(1_500)
  })

  it('keeps to limits of the caller', () => {
    const limits = { depth: 2, chars: 20 }
    expect(parseArguments('{"a":[1]}', limits)).toEqual({ a: [1] })
    expect(refused(() => parseArguments('{"a":[[]]}', limits))).toMatchObject({
      rule: 'too-deep',
      path: 'args.a[0]',
    })
    expect(parseArguments('{"a":"0123456789ab"}', limits)).toEqual({ a: '0123456789ab' })
    expect(refused(() => parseArguments('{"a":"0123456789abc"}', limits)).rule).toBe('too-large')
    expect(normalizeArguments({ a: [1] }, limits)).toEqual({ a: [1] })
    expect(refused(() => normalizeArguments({ a: [[]] }, limits)).rule).toBe('too-deep')
    expect(normalizeArguments({ a: '0123456789a' }, limits)).toEqual({ a: '0123456789a' })
    expect(refused(() => normalizeArguments({ a: '0123456789ab' }, limits)).rule).toBe('too-large')
  })
})

const safeNumber = fc
  .oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n) || Math.abs(n) >= 1e21)
  .map((n) => n + 0)

const safeJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    safeNumber,
    fc.string({ unit: 'grapheme' }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('__proto__')),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value

function escaped(text: string): string {
  return text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join(',')
}

function expectFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  expect(Object.isFrozen(value)).toBe(true)
  expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(value))
  for (const member of Object.values(value)) expectFrozen(member)
}

const circle: Record<string, unknown> = { list: [1] }
circle['list'] = [1, { again: circle }]

const late: Record<string, unknown> = { head: 'x'.repeat(2_000_000) }
late['self'] = late

let shared: unknown = { leaf: 'x' }
for (let i = 0; i < 100; i++) shared = { a: shared, b: shared }

const hollow: Record<string, unknown> = Object.fromEntries(
  Array.from({ length: 100_000 }, (_, i) => [`k${i}`, undefined]),
)
hollow['self'] = [hollow, hollow]

let tower: object = {}
for (let i = 0; i < 100_000; i++) tower = { a: tower }

/** NaN behind `depth` keys. */
function steps(depth: number): unknown {
  let value: unknown = Number.NaN
  for (let i = 0; i < depth; i++) value = { a: value }
  return value
}

const objects: [name: string, value: unknown, rule: ArgumentRule, path: string][] = [
  ['undefined', undefined, 'not-an-object', 'args'],
  ['an array', [1], 'not-an-object', 'args'],
  ['a number', 1, 'not-an-object', 'args'],
  ['a function', () => 1, 'not-an-object', 'args'],
  ['NaN', { a: [Number.NaN] }, 'not-finite', 'args.a[0]'],
  ['Infinity', { a: { 'b c': Number.NEGATIVE_INFINITY } }, 'not-finite', 'args.a["b c"]'],
  ['a BigInt', { a: 1n }, 'unsupported-type', 'args.a'],
  ['a function inside', { a: [() => 1] }, 'unsupported-type', 'args.a[0]'],
  ['a symbol', { a: Symbol('s') }, 'unsupported-type', 'args.a'],
  ['a symbol key', { a: { [Symbol('s')]: 1 } }, 'unsupported-type', 'args.a'],
  ['undefined in an array', { a: [1, undefined] }, 'unsupported-type', 'args.a[1]'],
  ['a hole', { a: [1, , 2] }, 'sparse-array', 'args.a[1]'],
  ['a Date', { when: new Date(0) }, 'not-plain', 'args.when'],
  ['a Date at the top', new Date(0), 'not-plain', 'args'],
  ['a Map', { a: [new Map()] }, 'not-plain', 'args.a[0]'],
  ['a class instance', { a: new (class Point {})() }, 'not-plain', 'args.a'],
  ['an array of a subclass', { a: new (class List extends Array {})() }, 'not-plain', 'args.a'],
  ['a boxed string', { a: new String('x') }, 'not-plain', 'args.a'],
  ['an object that inherits', { a: Object.create({ b: 1 }) }, 'not-plain', 'args.a'],
  [
    'an object that inherits from a bare one',
    { a: Object.create(Object.create(null)) },
    'not-plain',
    'args.a',
  ],
  ['half a pair', { a: { b: 'x\ud83d' } }, 'lone-surrogate', 'args.a.b'],
  ['half a pair in a key', { a: { '\ude02': 1 } }, 'lone-surrogate', 'args.a["\ufffd"]'],
  ['an unsafe integer', { a: [0, 2 ** 53] }, 'unsafe-integer', 'args.a[1]'],
  ['a circle', circle, 'cycle', 'args.list[1].again'],
  ['a circle beside two megabytes', late, 'cycle', 'args.self'],
  ['a few references to 2^100 objects', { shared }, 'too-large', `args.shared${'.a'.repeat(7)}…`],
  ['a circle of 100,000 undefined properties', hollow, 'cycle', 'args.self[0]'],
  ['100,000 levels', tower, 'too-deep', `args${'.a'.repeat(8)}…${'.a'.repeat(8)}`],
  ['an array of a billion holes', { a: new Array(1e9) }, 'too-large', 'args.a'],
  ['sixteen steps, shown as a whole', steps(16), 'not-finite', `args${'.a'.repeat(16)}`],
  ['seventeen steps', steps(17), 'not-finite', `args${'.a'.repeat(8)}…${'.a'.repeat(8)}`],
  ['a key with backticks', { '`a`': Number.NaN }, 'not-finite', 'args["\\u0060a\\u0060"]'],
  [
    'a key of a megabyte',
    { ['k'.repeat(1e6)]: Number.NaN },
    'not-finite',
    `args["${'k'.repeat(40)}…"]`,
  ],
]

describe('normalizeArguments', () => {
  it.each(objects)('refuses %s', (_, value, rule, path) => {
    const refusal = refused(() => normalizeArguments(value))
    expect(refusal.rule).toBe(rule)
    expect(refusal.path.startsWith(path)).toBe(true)
    expect(refusal.message).toContain(`\`${refusal.path}\``)
    expect(refusal.message.length).toBeLessThan(300)
    expect(refusal.ms).toBeLessThan(2_000)
  })

  it('does not read what stands beside a circle over and over', () => {
    let reads = 0
    const value = {
      get neighbour() {
        return ++reads
      },
      self: {} as unknown,
    }
    value.self = value
    expect(refused(() => normalizeArguments(value)).rule).toBe('cycle')
    expect(reads).toBe(1)
  })

  it('names the path of a circle that is found late', () => {
    const ring: Record<string, unknown> = {}
    let link = ring
    for (let i = 0; i < 9; i++) link = link['next'] = {}
    link['next'] = ring
    const refusal = refused(() => normalizeArguments({ ring }))
    expect(refusal).toMatchObject({ rule: 'cycle', path: `args.ring${'.next'.repeat(10)}` })
  })

  it('keeps every JSON object as it is, whether given as text or as object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), safeJson), (value) => {
        const data = JSON.parse(JSON.stringify(value)) as object
        for (const result of [normalizeArguments(data), normalizeArguments(JSON.stringify(data))]) {
          expect(result).toEqual(data)
          expect(JSON.stringify(result)).toBe(JSON.stringify(data))
          expectFrozen(result)
        }
      }),
    )
  })

  it('drops undefined properties and makes minus zero zero', () => {
    const result = normalizeArguments({ a: undefined, b: -0, c: [-0], d: { e: undefined } })
    expect(Object.keys(result)).toEqual(['b', 'c', 'd'])
    expect(result).toStrictEqual({ b: 0, c: [0], d: {} })
    expect(normalizeArguments('{"b":-0,"c":[-0.0]}')).toStrictEqual({ b: 0, c: [0] })
  })

  it('keeps __proto__ and other inherited names as data', () => {
    const text = '{"__proto__":{"admin":true},"constructor":1,"toString":-0,"a":{"__proto__":-0}}'
    for (const result of [normalizeArguments(JSON.parse(text)), normalizeArguments(text)]) {
      expect(Object.keys(result)).toEqual(['__proto__', 'constructor', 'toString', 'a'])
      expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
      expect('admin' in result).toBe(false)
      expect(JSON.stringify(result)).toBe(text.replaceAll('-0', '0'))
    }
  })

  it('takes plain objects of other realms and without prototype, giving ordinary ones', () => {
    const foreign: unknown = runInNewContext('({ a: [{ b: 1 }] })')
    const bare: unknown = Object.assign(Object.create(null), { a: [Object.create(null)] })
    for (const value of [foreign, bare]) {
      const result = normalizeArguments(value)
      expect(JSON.stringify(result)).toBe(JSON.stringify(value))
      expectFrozen(result)
    }
  })

  it('refuses what is not plain in other realms too', () => {
    for (const code of [
      'new Date(0)',
      'new Map()',
      'new (class A {})()',
      'new (class L extends Array {})()',
    ]) {
      expect(refused(() => normalizeArguments({ a: runInNewContext(code) })).rule).toBe('not-plain')
    }
  })

  it('does not touch its input and takes shared references', () => {
    const part = { b: [1] }
    const value = { x: part, y: part }
    expect(normalizeArguments(value)).toEqual({ x: { b: [1] }, y: { b: [1] } })
    expect(Object.isFrozen(value) || Object.isFrozen(part)).toBe(false)
  })

  it('reads getters and proxies once', () => {
    let reads = 0
    const value = {
      get a() {
        return ++reads
      },
      p: new Proxy({ b: 1 }, {}),
    }
    expect(normalizeArguments(value)).toEqual({ a: 1, p: { b: 1 } })
    expect(reads).toBe(1)
  })

  it('refuses a very wide object before it has copied much of it', () => {
    const wide = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`k${i}`, 1]))
    const { rule, path } = refused(() => normalizeArguments(wide, { depth: 9, chars: 40_000 }))
    expect(rule).toBe('too-large')
    expect(Number(path.replace('args.k', ''))).toBeLessThan(1_500)
  })

  it('refuses what throws when it is read, and says where', () => {
    const boom = () => {
      throw new Error('boom')
    }
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    const cases: [unknown, string][] = [
      [
        {
          list: [
            {
              get a() {
                return boom()
              },
            },
          ],
        },
        'args.list[0].a',
      ],
      [{ inner: new Proxy({}, { ownKeys: boom }) }, 'args.inner'],
      [{ inner: revoked.proxy }, 'args.inner'],
      [revoked.proxy, 'args'],
    ]
    for (const [value, path] of cases) {
      expect(refused(() => normalizeArguments(value))).toMatchObject({
        rule: 'unsupported-type',
        path,
      })
    }
  })

  it('gives its own results back as they are, unless other limits ask for another look', () => {
    const result = normalizeArguments({ a: { b: 1 } })
    const parsed = normalizeArguments('{"a":[1]}')
    expect(normalizeArguments(result)).toBe(result)
    expect(normalizeArguments(parsed)).toBe(parsed)
    expect(refused(() => normalizeArguments(result, { depth: 1, chars: 99 })).path).toBe('args.a')
    expect(normalizeArguments(Object.freeze({ a: {} }))).toSatisfy((value: { a: object }) =>
      Object.isFrozen(value.a),
    )
  })
})

describe('normalizeJson', () => {
  const subject = { root: 'output', code: 'E_INVALID_OUTPUT' } as const
  const refusal = (value: unknown, limits = ARGUMENT_LIMITS) => {
    try {
      return normalizeJson(value, subject, limits)
    } catch (error) {
      if (!isBobbinError(error, 'E_INVALID_OUTPUT')) throw error
      expect(error.message).toContain(`\`${error.data.path}\``)
      return error.data
    }
  }

  it('keeps any JSON value as it is, frozen', () => {
    fc.assert(
      fc.property(safeJson, (value) => {
        const data: unknown = JSON.parse(JSON.stringify(value))
        const result = normalizeJson(data, subject)
        expect(JSON.stringify(result)).toBe(JSON.stringify(data))
        expectFrozen(result)
      }),
    )
  })

  it.each<[name: string, value: unknown, rule: ArgumentRule, path: string]>([
    ['a Date', new Date(0), 'not-plain', 'output'],
    ['a Date inside', [{ when: new Date(0) }], 'not-plain', 'output[0].when'],
    ['undefined', undefined, 'unsupported-type', 'output'],
    ['NaN', Number.NaN, 'not-finite', 'output'],
    ['half a pair', 'x\ud83d', 'lone-surrogate', 'output'],
    ['a hole', [1, , 2], 'sparse-array', 'output[1]'],
    ['a circle', circle, 'cycle', 'output.list[1].again'],
    ['100,000 levels', tower, 'too-deep', `output${'.a'.repeat(8)}…${'.a'.repeat(8)}`],
    [
      'what throws when it is read',
      new Proxy([], { get: expect.fail }),
      'unsupported-type',
      'output',
    ],
  ])('refuses %s in the words of its subject', (_, value, rule, path) => {
    expect(refusal(value)).toEqual({ path, rule })
  })

  it('counts depth from the value itself, and keeps to limits of the caller', () => {
    const limits = { depth: 2, chars: 10 }
    expect(refusal([[1]], limits)).toEqual([[1]])
    expect(refusal([[[]]], limits)).toEqual({ path: 'output[0][0]', rule: 'too-deep' })
    expect(refusal('12345678', limits)).toBe('12345678')
    expect(refusal('123456789', limits)).toEqual({ path: 'output', rule: 'too-large' })
  })
})
