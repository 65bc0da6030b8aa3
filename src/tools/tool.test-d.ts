import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import type { JsonValue } from '../core/json/json.ts'
import { ArtifactTool } from './artifact-tool.ts'
import { Tool } from './tool.ts'
import { ToolRegistry } from './tool-registry.ts'

const common = { name: 'a', description: 'a' }

// Handlers get what the schema gives after defaults and coercions.
const fromZod = new Tool({
  ...common,
  inputSchema: z.object({ service: z.string(), lines: z.coerce.number().default(10) }),
  approval: ({ lines }) => lines > 5,
  handler: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ service: string; lines: number }>()
    return args.service
  },
})

const fromValibot = new Tool({
  ...common,
  inputSchema: toStandardJsonSchema(v.object({ service: v.optional(v.string(), 'all') })),
  handler: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ service: string }>()
    return args.service
  },
})

const fromArkType = new Tool({
  ...common,
  inputSchema: type({ service: 'string', 'lines?': 'number' }),
  handler: (args) => {
    expectTypeOf(args.service).toEqualTypeOf<string>()
    expectTypeOf(args.lines).toEqualTypeOf<number | undefined>()
    return args.service
  },
})

const fromJsonSchema = new Tool({
  ...common,
  inputSchema: {
    type: 'object',
    properties: {
      service: { type: 'string' },
      level: { enum: ['info', 'error'] },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['service'],
  } as const,
  handler: (args) => {
    expectTypeOf(args).toEqualTypeOf<{
      service: string
      level?: 'info' | 'error'
      tags?: string[]
    }>()
    return args.service
  },
})

// A schema that is written down in the call says as much as one that is `as const`.
new Tool({
  ...common,
  inputSchema: {
    type: 'object',
    properties: { service: { type: 'string' }, level: { enum: ['info', 'error'] } },
    required: ['service'],
  },
  handler: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ service: string; level?: 'info' | 'error' }>()
  },
})

// One whose literals are lost does not say which members are there.
const widened = { type: 'object' as const, properties: { n: { type: 'number' } }, required: ['m'] }
new Tool({
  ...common,
  inputSchema: widened,
  handler: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ n?: JsonValue }>()
  },
})

const answering = new ArtifactTool({
  ...common,
  inputSchema: z.object({ n: z.number() }),
  handler: ({ n }) => `${n}`,
})

// Tools of all schemas fit into one registry.
new ToolRegistry([fromZod, fromValibot, fromArkType, fromJsonSchema, answering])

new Tool({
  ...common,
  inputSchema: z.object({ service: z.string() }),
  // @ts-expect-error an argument that the schema does not have
  handler: ({ servce }) => servce,
})

new Tool({
  ...common,
  inputSchema: z.object({}),
  // @ts-expect-error a function is no output
  handler: () => () => 'no',
})

// A member that may be missing is left out, so it may be undefined as well.
declare const found: { readonly id: number; readonly note?: string } | undefined
new Tool({
  ...common,
  inputSchema: z.object({}),
  handler: async () => ({ found, at: found?.note, rows: [{ note: found?.note }] }),
})

new Tool({
  ...common,
  inputSchema: z.object({}),
  // @ts-expect-error a date in it has no form in JSON
  handler: () => ({ at: new Date() }),
})
