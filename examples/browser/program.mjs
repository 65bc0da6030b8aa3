// What ../browser-bundle.mjs bundles: a program for a web page that runs turns.
import { SpooledArtifact, Tool, TurnRunner } from 'bobbin-adk'

// JSON Schema needs no library; its arguments are unknown to the compiler.
const add = new Tool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  effect: 'read',
  handler: ({ a, b }) => String(a + b),
})

export const runner = new TurnRunner({
  tools: [add],
  executor: async ({ iteration, turnToolCalls: [sum] }) => {
    if (iteration === 1) return { calls: [{ tool: 'add', args: { a: 20, b: 22 } }] }
    const { results } = sum ?? {}
    return { answer: results instanceof SpooledArtifact ? await results.asString(100) : '' }
  },
})
