import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checksum, Tool, TurnRunner } from '../src/index.ts'
import { runs } from './runs.ts'

/** Fields whose validation changes what it gets: coercions, defaults, transforms, dropped keys. */
const FIELDS = {
  coerced: z.coerce.number(),
  text: z.coerce.string(),
  defaulted: z.number().default(7),
  optional: z.boolean().optional(),
  trimmed: z.string().trim().default(' x '),
  nested: z.looseObject({ deep: z.coerce.boolean().default(true) }).default({ deep: false }),
  list: z.array(z.coerce.number()).default([]),
}
type Field = keyof typeof FIELDS

const schemas = fc
  .subarray(Object.keys(FIELDS) as Field[])
  .map((keys) => ({ keys, schema: z.object(Object.fromEntries(keys.map((k) => [k, FIELDS[k]]))) }))
const values = fc.oneof(
  fc.string(),
  fc.integer().map(String),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer().map(String), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.boolean(), { maxKeys: 3 }),
)
const calls = schemas.chain(({ keys, schema }) =>
  fc.record({
    schema: fc.constant(schema),
    // Some arguments fit the schema, some do not, some are not known to it.
    args: fc.dictionary(fc.constantFrom(...keys, 'other', '__proto__'), values, { maxKeys: 6 }),
    asText: fc.boolean(),
  }),
)

describe('the identity of a call', () => {
  it('is one checksum on the stream, both execution events and the record, for random schemas', async () => {
    const settlements = new Set<string>()
    await fc.assert(
      fc.asyncProperty(calls, async ({ schema, args, asText }) => {
        const tool = new Tool({
          name: 'any',
          description: '',
          inputSchema: schema,
          handler: () => '',
        })
        const runner = new TurnRunner({
          tools: [tool],
          executor: async ({ iteration }) =>
            iteration > 1
              ? { answer: '' }
              : { calls: [{ tool: 'any', args: asText ? JSON.stringify(args) : args }] },
        })
        const streamed: string[] = []
        const executed: string[] = []
        const ids = new Set<string | undefined>()
        runner.on('toolCall', (content) => {
          streamed.push(content.checksum)
          ids.add(content.id)
        })
        const hear = (event: { callId: string; toolCallId: string | undefined }) => {
          executed.push(event.callId)
          ids.add(event.toolCallId)
        }
        runner.observe('toolExecutionStart', hear)
        runner.observe('toolExecutionEnd', hear)
        const { toolCalls } = await runner.run({ message: 'go' })

        const expected = checksum('any', JSON.parse(JSON.stringify(args)))
        expect(toolCalls.map((call) => call.checksum)).toEqual([expected])
        expect(streamed).toEqual([expected, expected])
        const isRun = toolCalls[0]?.settlement === 'ok'
        expect(executed).toEqual(isRun ? [expected, expected] : [])
        expect([...ids]).toEqual([toolCalls[0]?.id])
        settlements.add(toolCalls[0]?.settlement ?? '')
      }),
      { numRuns: runs(150) },
    )
    // Both ways through admission were taken, or the property proves less than it says.
    expect(settlements).toEqual(new Set(['ok', 'refused']))
  })
  it('keeps calls apart whose arguments are no JSON, alike in the executor and the record', async () => {
    const circle: Record<string, unknown> = { b: 1 }
    circle['self'] = circle
    const broken: Record<string, unknown>[] = [
      { a: Number.NaN, b: 1 },
      { a: Number.NaN, b: 2 },
      { a: 1n },
      { a: 2n },
      { at: new Date(1) },
      { at: new Date(2) },
      circle,
      { ...circle, b: 2 },
    ]
    const tool = new Tool({
      name: 'any',
      description: '',
      inputSchema: { type: 'object' },
      handler: () => '',
    })
    const executed: string[] = []
    for (const args of broken) {
      const callIds: string[] = []
      const run = tool.executor({ emit: ({ callId }) => callIds.push(callId) })
      await expect(run(args)).rejects.toMatchObject({ code: 'E_INVALID_ARGUMENTS' })
      expect(new Set(callIds).size).toBe(1)
      executed.push(...new Set(callIds))
    }
    const runner = new TurnRunner({
      tools: [tool],
      executor: async ({ iteration }) =>
        iteration > 1 ? { answer: '' } : { calls: broken.map((args) => ({ tool: 'any', args })) },
    })
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(toolCalls.map((call) => call.checksum)).toEqual(executed)
    expect(new Set(executed).size).toBe(broken.length)
  })
})
