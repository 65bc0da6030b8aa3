import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { isBobbinError } from '../core/error.ts'
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

const throwing = () => {
  throw new Error('no')
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
    ['something that is not JSON', { type: 'object', default: Number.NaN }, /`args.default`/],
    ['a list', [], /not an object/],
  ])('refuses %s and says why', (_, inputSchema, why) => {
    const { data, message } = refusal({ inputSchema })
    expect(data.path).toBe('inputSchema')
    expect(message).toMatch(why)
  })

  it.each<[string, unknown]>([
    ['throws when it is looked at', new Proxy({}, { get: throwing })],
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
})
