import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Tool } from '../tools/tool.ts'
import { TurnRunner } from './turn-runner.ts'

describe('TurnRunner', () => {
  it('runs a call and gives its answer', async () => {
    const tool = new Tool({
      name: 'add',
      description: 'Adds.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      effect: 'read',
      handler: ({ a, b }) => String(a + b),
    })
    const runner = new TurnRunner({
      tools: [tool],
      executor: async (ctx) => {
        if (ctx.iteration === 1) return { calls: [{ tool: 'add', args: { a: 1, b: 2 } }] }
        return { answer: 'three' }
      },
    })
    const outcome = await runner.run({ message: 'one and two?' })
    expect(outcome.status).toBe('completed')
    expect(outcome.toolCalls).toHaveLength(1)
  })
})
