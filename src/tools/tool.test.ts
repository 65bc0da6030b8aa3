import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cpuTime } from '../../test/cpu-time.ts'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { BobbinError, isBobbinError } from '../core/error/error.ts'
import type { JsonArray, JsonObject } from '../core/json/json.ts'
import { normalizeArguments } from '../core/json/strict-json.ts'
import { Media } from '../spool/media.ts'
import { Tool } from './tool.ts'
import type { ToolOptions } from './tool-options.ts'

const options = (overrides: Partial<ToolOptions> = {}): ToolOptions => ({
  name: 'read_log',
  description: 'Reads a log.',
  inputSchema: { type: 'object', properties: { service: { type: 'string' } } },
  handler: () => 'log',
  ...overrides,
})

/** Lists inside each other, each long and with a large member. */
function nested(depth: number): JsonArray {
  const items = Array.from({ length: 65 }, (_, i) => `${i}`)
  return depth === 0 ? ['x'.repeat(1_000_000)] : [...items, nested(depth - 1)]
}

const throwing = () => {
  throw new Error('no')
}

const throwingOurs = () => {
  throw new BobbinError('E_JSON_TOO_DEEP', 'no', { limit: 1 })
}

function refusal(overrides: Record<string, unknown>) {
  try {
    new Tool({ ...options(), ...overrides })
  } catch (error) {
    if (isBobbinError(error, 'E_INVALID_INITIAL_TOOL_VALUE')) return error
    throw error
  }
  throw new Error('the tool was accepted')
}

describe('Tool', () => {
  it('has the defaults that the design names', () => {
    const tool = new Tool(options())
    expect(tool).toMatchObject({
      name: 'read_log',
      inline: true,
      trust: 'third-party',
      exclusive: false,
      repeat: true,
      meta: {},
      ephemeral: false,
      onCollision: 'throw',
    })
    expect(tool.effect).toBeUndefined()
    expect(tool.artifactConstructor).toBeUndefined()
    expect(Object.isFrozen(tool)).toBe(true)
    expect(Tool.isTool(tool)).toBe(true)
    expect(Tool.isTool({ ...tool })).toBe(false)
  })

  it('hides its handler', () => {
    expect(Object.keys(new Tool(options()))).not.toContain('handler')
  })

  it('names the tool whose name no provider would take', () => {
    expect(refusal({ name: 'github.search' }).message).toBe(
      '`Tool.name` must be 1 to 64 letters, digits, underscores or hyphens: `github.search` is not.',
    )
    expect(refusal({ name: 'x'.repeat(10_000) }).message.length).toBeLessThan(200)
  })

  it.each([
    ['name', ''],
    ['name', 'has space'],
    ['name', 'x'.repeat(65)],
    ['name', 'sla/sh'],
    ['description', 5],
    ['handler', 'no function'],
    ['inputSchema', 'no schema'],
    ['artifactConstructor', SpooledArtifact],
    ['artifactConstructor', () => class {}],
    ['artifactConstructor', () => undefined],
    ['artifactConstructor', () => Media],
    ['inline', 'yes'],
    ['trust', 'mine'],
    ['effect', 'delete'],
    ['approval', 1],
    ['reconcile', true],
    ['timeoutMs', 0],
    ['timeoutMs', 1.5],
    ['exclusive', 'yes'],
    ['repeat', 3],
    ['meta', 'x'],
    ['ephemeral', 1],
    ['onCollision', 'overwrite'],
    ['handlr', () => ''],
  ])('refuses a wrong `%s`', (key, value) => {
    expect(refusal({ [key]: value }).data.path).toBe(key)
  })

  it('asks artifactConstructor for the class when it is made', () => {
    class Log extends SpooledArtifact {}
    const tool = new Tool(options({ artifactConstructor: () => Log }))
    expect(tool.artifactConstructor?.()).toBe(Log)
    expect(refusal({ artifactConstructor: () => Media }).message).toMatch(
      /return Media from the handler/,
    )
  })

  it('decides on approval by a boolean or a function of the arguments', async () => {
    expect(await new Tool(options()).needsApproval({})).toBe(false)
    expect(await new Tool(options({ approval: true })).needsApproval({})).toBe(true)
    const big = new Tool({
      ...options(),
      inputSchema: z.object({ amount: z.number() }),
      approval: ({ amount }) => amount > 100,
    })
    expect(await big.needsApproval({ amount: 101 })).toBe(true)
    expect(await big.needsApproval({ amount: 99 })).toBe(false)
  })
})

describe('Tool options', () => {
  const plain = { name: 'a', description: 'Does a.', inputSchema: { type: 'object' } }
  it.each([
    [{ execute: () => 'x' }, '`Tool.execute` is not an option of a tool: use `handler`.'],
    [{ efect: 'read' }, '`Tool.efect` is not an option of a tool: use `effect`.'],
    [{ parameters: {} }, '`Tool.parameters` is not an option of a tool: use `inputSchema`.'],
    [{ temperature: 1 }, '`Tool.temperature` is not an option of a tool: remove it.'],
  ])('that are unknown are refused before missing ones: %j', (stray, message) => {
    expect(() => new Tool({ ...plain, ...stray } as never)).toThrow(message)
  })

  it('are read once: what was checked is what counts', async () => {
    let reads = 0
    const tool = new Tool({
      ...options(),
      get handler() {
        reads++
        return () => `handler ${reads}`
      },
    })
    expect(reads).toBe(1)
    expect(await tool.executor()({})).toBe('handler 1')
  })
})

describe('Tool.inputSchema', () => {
  const expected = {
    type: 'object',
    properties: { service: { type: 'string' } },
    required: ['service'],
  }
  it.each([
    ['Zod', z.object({ service: z.string() })],
    ['Valibot', toStandardJsonSchema(v.object({ service: v.string() }))],
    ['ArkType', type({ service: 'string' })],
    ['plain JSON Schema', expected as { type: 'object' }],
  ])('takes %s, shows it as JSON Schema and validates with it', async (_, inputSchema) => {
    const tool = new Tool({ ...options(), inputSchema })
    expect(tool.jsonSchema).toMatchObject(expected)
    expect(Object.isFrozen(tool.jsonSchema)).toBe(true)
    expect(await tool.validate({ service: 'checkout' })).toMatchObject({
      ok: true,
      value: { service: 'checkout' },
    })
    expect(await tool.validate({ service: 5 })).toMatchObject({
      ok: false,
      issues: [{ path: 'service' }],
    })
    expect((await tool.validate({})).ok).toBe(false)
  })

  it.each([
    ['Zod', z.object({ n: z.coerce.number(), unit: z.string().default('ms') })],
    [
      'Valibot',
      toStandardJsonSchema(
        v.object({
          n: v.pipe(v.string(), v.transform(Number)),
          unit: v.optional(v.string(), 'ms'),
        }),
      ),
    ],
    ['ArkType', type({ n: 'string.numeric.parse', unit: "string = 'ms'" })],
  ])('coerces and fills in with %s, and leaves what it was given alone', async (_, inputSchema) => {
    const args = normalizeArguments({ n: '5' })
    const tool = new Tool({ ...options(), inputSchema })
    expect(await tool.validate(args)).toEqual({ ok: true, value: { n: 5, unit: 'ms' } })
    expect(args).toEqual({ n: '5' })
  })

  it('describes itself once, and to the same frozen JSON Schema for every tool', () => {
    let described = 0
    const standard = z.object({ service: z.object({ name: z.string() }) })['~standard']
    const input: typeof standard.jsonSchema.input = (of) => {
      described++
      return standard.jsonSchema.input(of)
    }
    const inputSchema = {
      '~standard': { ...standard, jsonSchema: { ...standard.jsonSchema, input } },
    }
    const one = new Tool({ ...options(), inputSchema }).jsonSchema
    const other = new Tool({ ...options(), inputSchema }).jsonSchema
    expect(one).toBe(other)
    expect(Object.isFrozen((one['properties'] as JsonObject)['service'])).toBe(true)
    expect(described).toBe(1)
  })

  it('is asked for as a whole when only the fields of an object are given', () => {
    const inputSchema = { service: z.string() } as unknown as { type: 'object' }
    const make = () => new Tool({ name: 'a', description: 'A.', inputSchema, handler: () => '' })
    expect(make).toThrow(
      '`Tool.inputSchema` must be a schema, and this is an object whose members are schemas. Wrap it, as in `z.object({ … })`.',
    )
  })

  it('is looked at anew for every tool when it is plain JSON Schema, which may change', () => {
    const inputSchema = { type: 'object' as const, title: 'a' }
    const tools = ['a', 'b'].map((title) => {
      inputSchema.title = title
      return new Tool({ ...options(), inputSchema })
    })
    expect(tools.map(({ jsonSchema }) => jsonSchema['title'])).toEqual(['a', 'b'])
  })

  it('says what is missing around the names of its fields', () => {
    const inputSchema = { city: 'string' }
    expect(
      () => new Tool({ name: 'a', description: '', inputSchema, handler: () => '' } as never),
    ).toThrow(
      "`Tool.inputSchema` must be JSON Schema with `type: 'object'`. Write `{ type: 'object', properties: { city: { type: 'string' } } }`, or use",
    )
  })

  it('says how to make Valibot describe itself', () => {
    const schema = v.object({ service: v.string() })
    expect(refusal({ inputSchema: schema }).message).toMatch(/toStandardJsonSchema/)
  })

  it('must describe an object', () => {
    expect(refusal({ inputSchema: z.string() }).message).toMatch(/must describe an object/)
    expect(refusal({ inputSchema: { type: 'array' } }).message).toMatch(/must describe an object/)
  })

  it.each<[string, unknown, RegExp]>([
    ['a type that JSON lacks', z.object({ at: z.date() }), /Date cannot be represented/],
    [
      'something that is not JSON',
      { type: 'object', default: Number.NaN },
      /`Tool.inputSchema.default`/,
    ],
    ['a list', [], /not an object/],
  ])('refuses %s and says why', (_, inputSchema, why) => {
    const { data, message } = refusal({ inputSchema })
    expect(data.path).toBe('inputSchema')
    expect(message).toMatch(why)
  })

  it.each<[string, unknown]>([
    ['throws when it is looked at', new Proxy({}, { get: throwing })],
    ['throws an error of ours when it is looked at', new Proxy({}, { get: throwingOurs })],
    ['throws when it describes itself', { '~standard': { validate: throwing, jsonSchema: {} } }],
    ['has a nameless vendor', { '~standard': { vendor: Object.create(null) } }],
  ])('refuses a schema that %s', (_, inputSchema) => {
    expect(refusal({ inputSchema }).data.path).toBe('inputSchema')
  })

  it('refuses the arguments when the schema itself throws', async () => {
    const inputSchema = z.object({}).transform(() => {
      throw new Error('no database')
    })
    expect(await new Tool({ ...options(), inputSchema }).validate({})).toEqual({
      ok: false,
      issues: [{ path: '', rule: 'could not be checked: no database' }],
    })
  })

  it('reports the first eight of many faults', async () => {
    const inputSchema = z.object({ list: z.array(z.string()) })
    const result = await new Tool({ ...options(), inputSchema }).validate({
      list: Array.from({ length: 20 }, (_, i) => i),
    })
    expect(result).toMatchObject({ ok: false, issues: { length: 8 } })
  })

  it('reports faults in few words, whatever the model sent', async () => {
    const closed = { type: 'object', additionalProperties: false } as const
    for (const inputSchema of [z.strictObject({}), closed]) {
      const tool = new Tool({ ...options(), inputSchema })
      const sent = Object.fromEntries(
        Array.from({ length: 100 }, (_, i) => [`${i}${'😀'.repeat(9_999)}`, 1]),
      )
      const text = JSON.stringify(await tool.validate(sent))
      expect(text).toContain('"ok":false')
      expect(text.length).toBeLessThan(5_000)
      expect(JSON.parse(text)).toEqual(JSON.parse(text.toWellFormed()))
    }
  })

  it('reports each fault of plain JSON Schema once, where it is', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/name' },
        b: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        c: { type: 'array', uniqueItems: true },
      },
      required: ['d'],
      additionalProperties: false,
      $defs: { name: { type: 'string', minLength: 2 } },
    } as const
    const tool = new Tool({ ...options(), inputSchema })
    expect(await tool.validate({ a: 'x', b: null, c: [1, { x: 1 }, { x: 1 }], e: 1 })).toEqual({
      ok: false,
      issues: [
        { path: '', rule: 'Instance does not have required property "d"' },
        { path: 'a', rule: 'String is too short (1 < 2)' },
        { path: 'b', rule: 'Instance type "null" is invalid. Expected "string"' },
        { path: 'b', rule: 'Instance type "null" is invalid. Expected "number"' },
        { path: 'c', rule: 'Duplicate items at indexes 1 and 2' },
        { path: 'e', rule: 'is not allowed here' },
      ],
    })
  })

  it('refuses what plain JSON Schema refuses without saying why', async () => {
    const tool = new Tool({ ...options(), inputSchema: { type: 'object', anyOf: [] } })
    expect(await tool.validate({})).toMatchObject({ ok: false, issues: [{ path: '' }] })
  })

  const many = Array.from({ length: 200_000 }, (_, i) => i)
  const list = (rules: object) => ({
    type: 'object' as const,
    properties: { list: { type: 'array', ...rules }, other: { type: 'array' } },
  })
  it.each<[string, object, JsonObject, string | undefined]>([
    ['wrong items', { items: { type: 'string' } }, { list: many }, 'list.0'],
    ['items that contain nothing', { contains: { type: 'string' } }, { list: many }, 'list'],
    ['items that differ', { uniqueItems: true }, { list: many }, undefined],
    ['objects that differ', { uniqueItems: true }, { list: many.map((x) => ({ x })) }, undefined],
    ['items of which two are equal', { uniqueItems: true }, { list: [...many, 7] }, 'list'],
    [
      'equal items elsewhere',
      { uniqueItems: true },
      { list: [1, 2], other: [...many, 7] },
      undefined,
    ],
    ['lists in lists', { uniqueItems: true }, { list: [nested(480)] }, undefined],
  ])('checks %s in bounded time', async (_, rules, args, path) => {
    const tool = new Tool({ ...options(), inputSchema: list(rules) })
    const start = cpuTime()
    const result = await tool.validate(args)
    expect(cpuTime() - start).toBeLessThan(3_000)
    if (path === undefined) expect(result.ok).toBe(true)
    else expect(result).toMatchObject({ ok: false, issues: [{ path }] })
  })
})
