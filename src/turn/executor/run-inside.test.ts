import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { isBobbinError } from '../../core/error/error.ts'
import type { Middleware } from '../call/middleware.ts'
import { TurnRunner } from '../turn-runner.ts'

describe('tool.executor with the context of a dispatch', () => {
  it.each([
    ['the context', (ctx: object) => ctx],
    ['a copy of it', (ctx: object) => ({ ...ctx })],
    ['an object that inherits from it', (ctx: object) => Object.create(ctx) as object],
  ])('refuses to run a tool without gate, intent and record: %s', async (_, given) => {
    const paid: unknown[] = []
    const errors: unknown[] = []
    const tools = [sampleTool('pay', () => paid.push(1), { effect: 'write', approval: true })]
    const attempt = async (ctx: object) => {
      try {
        await tools[0]?.executor(given(ctx))({ q: 'bob' })
      } catch (error) {
        errors.push(error)
      }
    }
    const middleware: Middleware[] = [
      {
        dispatch: async (ctx, next) => {
          await attempt(ctx)
          await next()
        },
      },
    ]
    const runner = new TurnRunner({
      tools,
      middleware,
      executor: async (ctx) => {
        await attempt(ctx)
        return { answer: 'done' }
      },
    })
    await runner.run({ message: 'go' })
    expect(paid).toEqual([])
    expect(errors).toHaveLength(2)
    for (const error of errors) {
      expect(isBobbinError(error, 'E_INVALID_INPUT')).toBe(true)
      expect((error as Error).message).toContain('return `{ calls: [{ tool, args }] }`')
    }
  })
})
