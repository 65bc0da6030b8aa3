import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { eachCall } from '../command/find-record.ts'
import { paintFor } from '../terminal/paint.ts'
import { callLines } from './call-lines.ts'

describe('callLines', () => {
  it('tells how long a call took in the words of a turn', async () => {
    let now = Date.UTC(2026, 0, 1)
    const took = [85, 2_400, 185_000]
    const store = memoryStore()
    const runner = new TurnRunner({
      store,
      testing: { clock: { now: () => now } },
      tools: [sampleTool('look', () => void (now += took.shift() ?? 0))],
      executor: async ({ iteration }) =>
        iteration > 3
          ? { answer: 'done' }
          : { calls: [{ tool: 'look', args: { q: `${iteration}` } }] },
    })
    await runner.run({ message: 'go' })
    const line = callLines(
      paintFor({ stdout: { isTTY: false }, env: {} }),
      Number.POSITIVE_INFINITY,
    )
    const shown: string[] = []
    for await (const found of eachCall(store, {})) shown.push(...line(found))
    const times = shown.map((each) => /\d+(?:\.\d+)? (?:ms|s|min \d+ s)\b/.exec(each)?.[0])
    expect(new Set(times)).toEqual(new Set(['85 ms', '2.4 s', '3 min 5 s']))
  })

  it('does not show a call that a person edited as a refused one', async () => {
    const store = memoryStore()
    const runner = new TurnRunner({
      store,
      tools: [sampleTool('pay', () => 'paid', { effect: 'write', approval: true })],
      approve: () => ({ approve: true, decidedBy: 'ann', args: { q: 'less' } }),
      executor: async ({ iteration }) =>
        iteration > 1 ? { answer: 'done' } : { calls: [{ tool: 'pay', args: { q: 'more' } }] },
    })
    await runner.run({ message: 'go' })
    const paint = paintFor({ stdout: { isTTY: true }, env: {} })
    const line = callLines(paint, Number.POSITIVE_INFINITY)
    const shown: string[] = []
    for await (const found of eachCall(store, { settlement: 'edited' })) shown.push(...line(found))
    expect(shown).toHaveLength(1)
    expect(shown[0]).toContain(paint.cyan('edited'))
    expect(shown[0]).toContain(paint.cyan('~'))
    expect(shown[0]).not.toContain('⊘')
  })
})
