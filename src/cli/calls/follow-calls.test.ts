import { expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import type { Io } from '../terminal/io.ts'
import { followCalls } from './follow-calls.ts'

it('tells each call once, however many pages of them settle', async () => {
  const store = memoryStore()
  const abort = new AbortController()
  const lines: string[] = []
  const stdout = {
    write(text: string) {
      lines.push(text)
      // Some more, so that a line that comes twice is seen.
      if (lines.length === CALLS) setTimeout(() => abort.abort(), 600)
    },
  }
  const following = followCalls(store, {}, [], { stdout, env: {}, signal: abort.signal } as Io)
  const args = (n: number) => ({ q: `${n}` })
  const calls = Array.from({ length: CALLS }, (_, n) => ({ tool: 'look', args: args(n) }))
  const runner = new TurnRunner({
    store,
    tools: [sampleTool('look', () => 'seen')],
    limits: { calls: CALLS },
    executor: async ({ iteration }) => {
      const some = calls.slice((iteration - 1) * 250, iteration * 250)
      return some.length > 0 ? { calls: some } : { answer: 'done' }
    },
  })
  await runner.run({ message: 'go' })
  await following
  expect(lines).toHaveLength(CALLS)
  expect(new Set(lines.map((line) => /"\d+"|\bq=?\S*/.exec(line)?.[0])).size).toBe(CALLS)
})

const CALLS = 1_500
