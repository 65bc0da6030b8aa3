// A record's schema inside the schemas of your own library: Zod, Valibot, or anything that speaks Standard Schema.
import assert from 'node:assert/strict'
import { ToolCall } from 'bobbin-adk'
import * as v from 'valibot'
import { z } from 'zod'

const raw = {
  id: 'call_1',
  tool: 'read_log',
  args: '{"service":"checkout"}',
  results: 'all well',
  isComplete: true,
  isError: false,
  createdAt: '2026-01-02T03:04:05.000Z',
  completedAt: '2026-01-02T03:04:06.000Z',
}

// Zod: ask the Standard Schema, hand its issues on.
const audit = z.object({
  reviewer: z.string(),
  call: z.unknown().transform(async (input, ctx) => {
    const result = await ToolCall.schema['~standard'].validate(input)
    if (result.issues === undefined) return new ToolCall(result.value)
    for (const { message } of result.issues) ctx.addIssue({ code: 'custom', message })
    return z.NEVER
  }),
})

const { call } = await audit.parseAsync({ reviewer: 'ada', call: raw })
assert.ok(ToolCall.isToolCall(call))
assert.equal(call.args['service'], 'checkout')
const refused = await audit.safeParseAsync({
  reviewer: 'ada',
  call: { ...raw, completedAt: 'yesterday' },
})
assert.match(String(refused.error), /must be a date/)

// Valibot: the schema is one of its own and nests as it is.
const batch = v.object({ calls: v.array(ToolCall.schema) })
assert.equal(v.parse(batch, { calls: [raw, raw] }).calls.length, 2)
assert.equal(v.safeParse(batch, { calls: [{ ...raw, id: '' }] }).success, false)

console.log('ToolCall.schema nests in Zod and in Valibot.')
