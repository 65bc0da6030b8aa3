import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import { memoryStore } from '../store/memory-store.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { eachCall } from './find-record.ts'
import { callLines } from './list-calls.ts'
import { paintFor } from './paint.ts'

describe('callLines', () => {
  it('tells how long a call took in the words of a turn', async () => {
    let now = Date.UTC(2026, 0, 1)
    const took = [85, 2_400, 185_000]
    const store = memoryStore()
    const runner = new TurnRunner({
      store,
      clock: { now: () => now },
      tools: [sampleTool('look', () => void (now += took.shift() ?? 0))],
      executor: async ({ iteration }) =>
        iteration > 3
          ? { answer: 'done' }
          : { calls: [{ tool: 'look', args: { q: `${iteration}` } }] },
    })
    await runner.run({ message: 'go' })
    const line = callLines(paintFor({ stdout: { isTTY: false }, env: {} } as never))
    const shown: string[] = []
    for await (const found of eachCall(store, {})) shown.push(line(found))
    const times = shown.map((each) => /\d+(?:\.\d+)? (?:ms|s|min \d+ s)\b/.exec(each)?.[0])
    expect(new Set(times)).toEqual(new Set(['85 ms', '2.4 s', '3 min 5 s']))
  })
})
