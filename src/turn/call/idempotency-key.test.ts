import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'

describe('idempotencyKeyOf', () => {
  it('gives plain ids a plain key', () => {
    expect(idempotencyKeyOf('c', 'call_1')).toBe('c/call_1')
  })

  it('never gives two calls the same key', () => {
    const part = fc.string({ unit: fc.constantFrom('a', '/', '%', '2', '5', 'F'), maxLength: 6 })
    fc.assert(
      fc.property(part, part, part, part, (a, b, c, d) => {
        fc.pre(a !== c || b !== d)
        expect(idempotencyKeyOf(a, b)).not.toBe(idempotencyKeyOf(c, d))
      }),
    )
  })

  it('separates calls whose conversation and id read alike when joined', async () => {
    const keys: string[] = []
    const pay = sampleTool(
      'pay',
      (_: unknown, ctx: { idempotencyKey: string }) => String(keys.push(ctx.idempotencyKey)),
      { trust: 'developer' },
    )
    const store = memoryStore()
    for (const [conversation, id] of [
      ['user', '2/call_1'],
      ['user/2', 'call_1'],
    ] as const) {
      const model = scriptedModel([[{ call: 'pay', id }], [{ text: 'ok' }]])
      await new TurnRunner({ model, tools: [pay], store }).run({ conversation, message: 'go' })
    }
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(2)
  })
})
