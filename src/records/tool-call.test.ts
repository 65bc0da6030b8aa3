import { DateTime, IANAZone, Settings } from 'luxon'
import { describe, expect, it } from 'vitest'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { checksum } from '../core/checksum.ts'
import { BobbinError, isBobbinError } from '../core/error/error.ts'
import { canonicalStringify } from '../core/json/canonical.ts'
import { unparsedArguments } from '../core/unparsed-arguments.ts'
import { Media } from '../spool/media.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { type RawToolCall, SETTLEMENTS, ToolCall } from './tool-call.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)

function raw(overrides: Partial<RawToolCall> = {}): RawToolCall {
  return {
    id: 'call_1',
    tool: 'read_log',
    args: { service: 'checkout' },
    results: new Tokenizable('done'),
    isComplete: true,
    isError: false,
    createdAt: AT,
    completedAt: AT + 5,
    ...overrides,
  }
}

const without = (key: keyof RawToolCall): RawToolCall => {
  const { [key]: _, ...rest } = raw()
  return rest as RawToolCall
}

function refusal(value: RawToolCall) {
  try {
    new ToolCall(value)
  } catch (error) {
    if (isBobbinError(error, 'E_INVALID_INITIAL_TOOL_CALL_VALUE')) return error
    throw error
  }
  throw new Error('the record was accepted')
}

const picture = () =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: 'chart.png',
    trustTier: 'third-party',
    modalityHazard: 'opaque-perceptual',
    reader: bytesMedia(new Uint8Array([1, 2, 3])),
  })

describe('ToolCall', () => {
  it('keeps what it is given and fills in the rest', () => {
    const call = new ToolCall(raw())
    expect({ ...call, createdAt: 0, updatedAt: 0, completedAt: 0 }).toEqual({
      id: 'call_1',
      tool: 'read_log',
      args: { service: 'checkout' },
      checksum: checksum('read_log', { service: 'checkout' }),
      results: new Tokenizable('done'),
      isComplete: true,
      isError: false,
      settlement: 'ok',
      executedBy: 'runner',
      inline: true,
      fromArtifactTool: false,
      trust: 'third-party',
      createdAt: 0,
      updatedAt: 0,
      completedAt: 0,
    })
  })

  it('normalises a JSON string of arguments into a plain object', () => {
    const call = new ToolCall(raw({ args: '{"service":"checkout"}' }))
    expect(call.args).toEqual({ service: 'checkout' })
    expect(Object.getPrototypeOf(call.args)).toBe(Object.prototype)
    expect(call.checksum).toBe(new ToolCall(raw()).checksum)
  })

  it('gives equal checksums whatever the order of the keys', () => {
    const one = new ToolCall(raw({ args: { a: 1, b: { c: 2, d: 3 } } }))
    const two = new ToolCall(raw({ args: '{"b":{"d":3,"c":2},"a":1}' }))
    expect(one.checksum).toBe(two.checksum)
  })

  it('computes the checksum over tool name and arguments', () => {
    expect(new ToolCall(raw()).checksum).not.toBe(new ToolCall(raw({ tool: 'other' })).checksum)
    expect(new ToolCall(raw()).checksum).not.toBe(
      new ToolCall(raw({ args: { service: 'x' } })).checksum,
    )
  })

  it('keeps an argument named __proto__ as data', () => {
    const { args } = new ToolCall(raw({ args: '{"__proto__":{"admin":true}}' }))
    expect(Object.keys(args)).toEqual(['__proto__'])
    expect((args as { admin?: boolean }).admin).toBeUndefined()
  })

  it('holds arguments that could not be parsed apart from each other', () => {
    const one = new ToolCall(raw({ args: unparsedArguments('{"a":'), rawArgs: '{"a":' }))
    const two = new ToolCall(raw({ args: unparsedArguments('{"b":'), rawArgs: '{"b":' }))
    expect(one.checksum).not.toBe(two.checksum)
    expect(one.rawArgs).toBe('{"a":')
    expect(one.args).toEqual({
      $unparsed: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: 5, head: '{"a":' },
    })
  })

  it.each(['2026-01-02T03:04:05.000Z', '2026-01-02T04:04:05+01:00', AT, new Date(AT)])(
    'reads the date %s as a Luxon DateTime in UTC',
    (date) => {
      const { createdAt } = new ToolCall(raw({ createdAt: date }))
      expect(DateTime.isDateTime(createdAt)).toBe(true)
      expect(createdAt.toISO()).toBe('2026-01-02T03:04:05.000Z')
    },
  )

  it('reads a Luxon DateTime of any zone', () => {
    const date = DateTime.fromMillis(AT, { zone: 'Europe/Berlin' })
    expect(new ToolCall(raw({ createdAt: date })).createdAt.toMillis()).toBe(AT)
  })

  it.each([
    ['locale', DateTime.fromMillis(AT, { zone: 'utc', locale: 'fr' })],
    ['calendar', DateTime.fromMillis(AT, { zone: 'utc', outputCalendar: 'hebrew' })],
    ['digits', DateTime.fromMillis(AT, { zone: 'utc', numberingSystem: 'beng' })],
    ['kind of UTC', DateTime.fromMillis(AT, { zone: IANAZone.create('UTC') })],
  ])('keeps no %s of a DateTime, which its JSON would lose', (_, createdAt) => {
    const call = new ToolCall(raw({ createdAt }))
    const restored = ToolCall.fromJSON(JSON.parse(JSON.stringify(call)))
    expect(restored.createdAt.equals(call.createdAt)).toBe(true)
    expect(call.createdAt.toMillis()).toBe(AT)
  })

  it('keeps whole milliseconds, which is what its JSON holds', () => {
    const call = new ToolCall(
      raw({ createdAt: AT + 0.7, completedAt: DateTime.fromMillis(AT + 5.2, { zone: 'utc' }) }),
    )
    const times = ({ createdAt, completedAt }: ToolCall) => [createdAt, completedAt].map(Number)
    expect(times(call)).toEqual([AT, AT + 5])
    expect(times(ToolCall.fromJSON(JSON.parse(JSON.stringify(call))))).toEqual(times(call))
  })

  it('takes the completion for the last update unless told otherwise', () => {
    expect(new ToolCall(raw()).updatedAt.toMillis()).toBe(AT + 5)
    expect(new ToolCall(raw({ updatedAt: AT + 3 })).updatedAt.toMillis()).toBe(AT + 3)
  })

  it.each(SETTLEMENTS)(
    'accepts the settlement %s with the isError that goes with it',
    (settlement) => {
      const isError = settlement !== 'ok'
      expect(new ToolCall(raw({ settlement, isError })).settlement).toBe(settlement)
      expect(refusal(raw({ settlement, isError: !isError })).data.path).toBe('settlement')
    },
  )

  it('keeps the checksum of what was there before it was redacted', () => {
    const redacted = ['args.service']
    const original = checksum('read_log', { service: 'checkout' })
    const call = new ToolCall(
      raw({ args: { service: '[redacted]' }, checksum: original, redacted }),
    )
    redacted.push('args.more')
    expect(call.checksum).toBe(original)
    expect(call.redacted).toEqual(['args.service'])
    expect(Object.isFrozen(call.redacted)).toBe(true)
  })

  it('calls an error failed unless told how it ended', () => {
    expect(new ToolCall(raw({ isError: true })).settlement).toBe('failed')
  })

  it('accepts itself as its own raw form', () => {
    const call = new ToolCall(raw())
    expect(new ToolCall(call)).toEqual(call)
  })
})

describe('ToolCall results', () => {
  it('are text, an artifact, artifacts, a media or media', async () => {
    const artifact = new SpooledArtifact(await memorySpool().write('log'))
    for (const results of [artifact, [artifact, artifact], picture(), [picture()]]) {
      expect(new ToolCall(raw({ results })).results).toEqual(results)
    }
    expect(new ToolCall(raw({ results: 'plain text' })).results).toEqual(
      new Tokenizable('plain text'),
    )
  })

  it('are text when an artifact tool gave them', async () => {
    const artifact = new SpooledArtifact(await memorySpool().write('log'))
    expect(new ToolCall(raw({ fromArtifactTool: true })).fromArtifactTool).toBe(true)
    expect(refusal(raw({ fromArtifactTool: true, results: artifact })).data.path).toBe('results')
  })
})

describe('ToolCall refuses', () => {
  const cases: [string, RawToolCall, { path: string; says: RegExp }][] = [
    [
      'a wrong checksum',
      raw({ checksum: 'a'.repeat(64) }),
      { path: 'checksum', says: /leave it out/ },
    ],
    ['a checksum that is no digest', raw({ checksum: 'x' }), { path: 'checksum', says: /64/ }],
    ['an empty results array', raw({ results: [] }), { path: 'results', says: /non-empty/ }],
    [
      'results of no silo',
      raw({ results: 7 as never }),
      { path: 'results', says: /SpooledArtifact/ },
    ],
    ['null results', raw({ results: null as never }), { path: 'results', says: /SpooledArtifact/ }],
    ['args that are an array', raw({ args: [1] as never }), { path: 'args', says: /object/ }],
    ['args that are a number', raw({ args: 3 as never }), { path: 'args', says: /plain object/ }],
    ['args that are no JSON', raw({ args: '{"a":' }), { path: 'args', says: /JSON/ }],
    [
      'NaN inside args',
      raw({ args: { a: { b: [Number.NaN] } } }),
      { path: 'args', says: /args\.a\.b\[0\]/ },
    ],
    [
      'a Date inside args',
      raw({ args: { when: new Date() } }),
      { path: 'args', says: /args\.when/ },
    ],
    [
      'an unparsable date',
      raw({ completedAt: 'yesterday' }),
      { path: 'completedAt', says: /ISO 8601/ },
    ],
    [
      'an invalid Date',
      raw({ createdAt: new Date(Number.NaN) }),
      { path: 'createdAt', says: /ISO 8601/ },
    ],
    [
      'an infinite date',
      raw({ createdAt: Number.POSITIVE_INFINITY }),
      { path: 'createdAt', says: /ISO 8601/ },
    ],
    ['an empty id', raw({ id: '' }), { path: 'id', says: /non-empty/ }],
    [
      'an unknown field',
      { ...raw(), isComplet: true } as RawToolCall,
      { path: 'isComplet', says: /remove it/ },
    ],
    [
      'isComplete false',
      raw({ isComplete: false as true }),
      { path: 'isComplete', says: /settled/ },
    ],
    [
      'redaction without a checksum',
      raw({ redacted: ['args.password'] }),
      { path: 'checksum', says: /required/ },
    ],
    ['a value that is no object', 5 as never, { path: '', says: /object/ }],
    ['a checksum that is no text', raw({ checksum: 5 as never }), { path: 'checksum', says: /64/ }],
    ['wire that is no object', raw({ wire: 5 as never }), { path: 'wire', says: /an object with/ }],
    [
      'wire without an api',
      raw({ wire: { provider: 'x' } as never }),
      { path: 'wire.api', says: /missing/ },
    ],
    [
      'wire with a number for a text',
      raw({ wire: { provider: 5 } as never }),
      { path: 'wire.provider', says: /must be a string/ },
    ],
    [
      'an origin that is none',
      raw({ wire: { provider: 'x', api: 'x', type: 'x', origin: 'x' as never } }),
      { path: 'wire.origin', says: /natural, conflated, synthetic/ },
    ],
    ['rawArgs that are no text', raw({ rawArgs: 5 as never }), { path: 'rawArgs', says: /text/ }],
    ['an empty redaction', raw({ redacted: [] }), { path: 'redacted', says: /non-empty/ }],
    [
      'redaction of something else than paths',
      raw({ redacted: [5 as never] }),
      { path: 'redacted', says: /paths/ },
    ],
    [
      'a checksum in upper case',
      raw({ checksum: checksum('read_log', { service: 'checkout' }).toUpperCase() }),
      { path: 'checksum', says: /lower-case/ },
    ],
  ]
  it.each(cases)('%s, naming path, rule and way out', (_, value, { path, says }) => {
    const error = refusal(value)
    expect(error.data.path).toBe(path)
    expect(error.message).toMatch(says)
    expect(error.message).toContain(path === '' ? '`ToolCall`' : `\`ToolCall.${path}\``)
    expect(error.message).toMatch(/[^.]\.$/)
  })

  it.each([
    ['an error', new Error('no')],
    ['an error of ours', new BobbinError('E_JSON_TOO_DEEP', 'no', { limit: 1 })],
  ])('what throws %s when it is read', (_, thrown) => {
    const trap = () => {
      throw thrown
    }
    const hostile: [RawToolCall, string][] = [
      [Object.defineProperty(raw(), 'tool', { get: trap, enumerable: true }), 'tool'],
      [raw({ results: new Proxy([], { get: trap }) }), 'results'],
      [new Proxy(raw(), { get: trap }), 'id'],
      [new Proxy(raw(), { ownKeys: trap }), ''],
    ]
    for (const [value, path] of hostile) {
      const error = refusal(value)
      expect(error).toMatchObject({ cause: thrown, data: { path } })
      expect(error.message).toContain(path === '' ? '`ToolCall` ' : `\`ToolCall.${path}\` `)
    }
    const args = Object.defineProperty({ a: 1 }, 'b', { get: trap, enumerable: true })
    expect(refusal(raw({ args })).message).toContain('`args.b`')
  })

  it.each([
    ['a Date', { [Symbol.toStringTag]: 'Date' }],
    ['a DateTime', { isLuxonDateTime: true }],
    [
      'something that throws',
      new Proxy(
        {},
        {
          get() {
            throw new Error('no')
          },
        },
      ),
    ],
    ['a DateTime that is invalid', DateTime.invalid('never')],
  ])('the look-alike of %s instead of a date, naming the field', (_, createdAt) => {
    expect(refusal(raw({ createdAt: createdAt as Date })).data.path).toBe('createdAt')
  })

  it('an unparsable date alike where Luxon is told to throw', () => {
    Settings.throwOnInvalid = true
    try {
      expect(refusal(raw({ createdAt: 'yesterday' })).data.path).toBe('createdAt')
      expect(refusal(raw({ createdAt: Number.NaN })).data.path).toBe('createdAt')
    } finally {
      Settings.throwOnInvalid = false
    }
  })

  it('an unknown field also where another one is inherited', () => {
    const odd = Object.assign(Object.create({ id: 'call_1' }), without('id'), { evil: 1 })
    expect(refusal(odd).data.path).toBe('evil')
  })

  it('arguments with the exact account of what is wrong as the cause', () => {
    expect(refusal(raw({ args: { a: [Number.NaN] } })).cause).toMatchObject({
      code: 'E_INVALID_ARGUMENTS',
      data: { path: 'args.a[0]', rule: 'not-finite' },
    })
  })

  it('hostile arguments without reading them over and over', () => {
    let reads = 0
    const args = {
      get first() {
        reads++
        return 1
      },
      last: Number.NaN,
    }
    expect(refusal(raw({ args })).data.path).toBe('args')
    expect(reads).toBeLessThanOrEqual(3)
  })

  it('a mixed results array', async () => {
    const artifact = new SpooledArtifact(await memorySpool().write('log'))
    const error = refusal(raw({ results: [artifact, picture()] as never }))
    expect(error.message).toMatch(/mixes both/)
  })

  it.each([
    'id',
    'tool',
    'args',
    'results',
    'isComplete',
    'isError',
    'createdAt',
    'completedAt',
  ] as const)('a record without %s', (key) => {
    expect(refusal(without(key)).data).toEqual({ path: key, rule: 'is required and missing' })
  })
})

describe('ToolCall immutability', () => {
  it('freezes every property and every value it holds, Luxon values excepted', async () => {
    const call = new ToolCall(
      raw({
        args: { deep: { list: [{ a: 1 }] } },
        effectiveArgs: { deep: { list: [1] } },
        results: [new SpooledArtifact(await memorySpool().write('x'))],
        wire: {
          provider: 'openai',
          api: 'openai-responses',
          type: 'function_call',
          origin: 'natural',
        },
        providerData: { api: 'openai-responses', data: { signature: ['s'] } },
      }),
    )
    const thawed: string[] = []
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null || DateTime.isDateTime(value)) return
      if (!Object.isFrozen(value)) thawed.push(path)
      for (const key of Reflect.ownKeys(value)) {
        walk(Reflect.get(value, key), `${path}.${String(key)}`)
      }
    }
    walk(call, 'call')
    expect(thawed).toEqual([])
    expect(() => Object.assign(call, { tool: 'other' })).toThrow(TypeError)
    expect(() => Object.assign(call.args, { a: 1 })).toThrow(TypeError)
  })

  it('is not changed by later changes of what it was made from', async () => {
    const args = { list: [1] }
    const artifact = new SpooledArtifact(await memorySpool().write('x'))
    const results = [artifact]
    const call = new ToolCall(raw({ args, results }))
    args.list.push(2)
    results.push(artifact)
    expect(call.args).toEqual({ list: [1] })
    expect(call.results).toHaveLength(1)
  })
})

describe('ToolCall.isToolCall', () => {
  it('knows instances and no look-alikes', () => {
    const call = new ToolCall(raw())
    expect(ToolCall.isToolCall(call)).toBe(true)
    class Fake {
      static override = 'ToolCall'
    }
    Object.defineProperty(Fake, 'name', { value: 'ToolCall' })
    const lookAlikes = [
      { ...call },
      JSON.parse(JSON.stringify(call)),
      Object.create(ToolCall.prototype),
      Object.assign(new Fake(), call),
      new Proxy(call, {}),
      null,
      undefined,
      'ToolCall',
    ]
    expect(lookAlikes.map(ToolCall.isToolCall)).toEqual(lookAlikes.map(() => false))
  })
})

describe('ToolCall.schema', () => {
  it('is a Standard Schema that validates raw calls', () => {
    const standard = ToolCall.schema['~standard']
    expect(standard.version).toBe(1)
    expect(standard.validate(raw())).toMatchObject({ value: { id: 'call_1', settlement: 'ok' } })
    expect(standard.validate({ ...raw(), id: '' })).toMatchObject({
      issues: [{ message: 'must be a non-empty string' }],
    })
  })
})

describe('ToolCall.fromJSON', () => {
  it('gives back an equal record with the same digest', () => {
    const call = new ToolCall(
      raw({
        isError: true,
        settlement: 'timed-out',
        effectiveArgs: { service: 'checkout', lines: 10 },
        editOf: 'call_0',
        wire: {
          provider: 'openai',
          api: 'openai-chat',
          type: 'function',
          callId: 'x',
          origin: 'natural',
        },
      }),
    )
    const restored = ToolCall.fromJSON(JSON.parse(JSON.stringify(call)))
    expect(restored).toEqual(call)
    expect(restored.digest).toBe(call.digest)
    expect(restored.digest).toMatch(/^[0-9a-f]{64}$/)
  })

  it('finds artifacts and media again by their digests', async () => {
    const spool = memorySpool()
    const artifact = new SpooledArtifact(await spool.write('line one\nline two'))
    const media = await picture().spooled(spool)
    for (const results of [artifact, [artifact, artifact], media, [media]] as const) {
      const call = new ToolCall(raw({ results }))
      const restored = ToolCall.fromJSON(JSON.parse(JSON.stringify(call)), { spool })
      expect(restored.digest).toBe(call.digest)
      expect(canonicalStringify(restored)).toBe(canonicalStringify(call))
    }
    const call = new ToolCall(raw({ results: artifact }))
    const restored = ToolCall.fromJSON(JSON.parse(JSON.stringify(call)), { spool })
    expect(await (restored.results as SpooledArtifact).asString()).toBe('line one\nline two')
  })

  it('finds the long text of arguments again that could not be parsed', async () => {
    const spool = memorySpool()
    const rawArgs = new SpooledArtifact(await spool.write('{"a":'))
    const call = new ToolCall(raw({ args: unparsedArguments('{"a":'), rawArgs }))
    const restored = ToolCall.fromJSON(JSON.parse(JSON.stringify(call)), { spool })
    expect(restored.digest).toBe(call.digest)
    expect(await (restored.rawArgs as SpooledArtifact).asString()).toBe('{"a":')
  })

  it('says what is missing when there is no spool to find them in', async () => {
    const artifact = new SpooledArtifact(await memorySpool().write('log'))
    const json = JSON.parse(JSON.stringify(new ToolCall(raw({ results: artifact }))))
    expect(() => ToolCall.fromJSON(json)).toThrow(/pass `\{ spool \}`/)
  })

  it('says what is missing when the class is unknown', async () => {
    const spool = memorySpool()
    class Unknown extends SpooledArtifact {
      static override readonly kind = 'my-kind'
    }
    const json = JSON.parse(
      JSON.stringify(new ToolCall(raw({ results: new Unknown(await spool.write('log')) }))),
    )
    expect(() => ToolCall.fromJSON(json, { spool })).toThrow(/my-kind/)
    const restored = ToolCall.fromJSON(json, { spool, artifacts: [Unknown] })
    expect(restored.results).toBeInstanceOf(Unknown)
  })

  it('refuses a record whose arguments were altered', () => {
    const json = JSON.parse(JSON.stringify(new ToolCall(raw())))
    json.args.service = 'payments'
    expect(() => ToolCall.fromJSON(json)).toThrow(/does not match tool and args/)
  })
})

describe('ToolCall.digest', () => {
  it('covers results, which the checksum does not', () => {
    const one = new ToolCall(raw())
    const two = new ToolCall(raw({ results: 'something else' }))
    expect(one.checksum).toBe(two.checksum)
    expect(one.digest).not.toBe(two.digest)
  })

  it('needs the digest of a media to be known', () => {
    const reader = {
      async *stream() {
        yield new Uint8Array([1])
      },
    }
    const media = new Media({ ...picture(), reader })
    expect(() => new ToolCall(raw({ results: media })).digest).toThrow(/spooled\(store\)/)
  })
})
