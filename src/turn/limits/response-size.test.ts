import { describe, expect, it } from 'vitest'
import { cpuTime } from '../../../test/cpu-time.ts'
import { sampleTool } from '../../../test/turn-samples.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'

/** A turn whose first response asks for so many calls. */
async function ask(count: number) {
  let asked = 0
  let ran = 0
  const read = sampleTool('read', () => String(++ran), { effect: 'read' })
  const runner = new TurnRunner({
    tools: [read],
    limits: { calls: 100_000 },
    retries: 2,
    executor: async () => {
      if (asked++ > 0) return { answer: 'ok' }
      return {
        calls: Array.from({ length: count }, (_, n) => ({ tool: 'read', args: { q: `${n}` } })),
      }
    },
  })
  const outcome = await runner.run({ message: 'go' })
  return { outcome, ran, asked }
}

describe('the calls of one response', () => {
  it('all run up to 256', async () => {
    const { outcome, ran } = await ask(256)
    expect([outcome.status, ran]).toEqual(['completed', 256])
  })

  it.each([257, 10_000])('fail the turn when there are %i, and none runs', async (count) => {
    const { outcome, ran, asked } = await ask(count)
    expect(outcome).toMatchObject({ status: 'failed', reason: { code: 'TOO_MANY_CALLS' } })
    expect([ran, asked, outcome.toolCalls]).toEqual([0, 1, []])
    expect(outcome.reason?.message).toBe(
      `The model asked for ${count} calls in one response; at most 256 are allowed. None of them ran.`,
    )
  })

  it('fail at once when there are many', async () => {
    expect(await timeOf(() => ask(10_000))).toBeLessThan(1000)
  })

  it.each([
    ['the runner', (count: number) => ask(count), 64, 256],
    ['a provider', provide, 1000, 8000],
  ])('that %s runs settle in linear time', async (_, run, few, many) => {
    await run(few)
    const short = await timeOf(() => run(few))
    const long = await timeOf(() => run(many))
    expect(long / short).toBeLessThan((many / few) * 2.5)
  })
})

/** A turn whose response brings so many calls that its provider has run. */
async function provide(count: number) {
  const wire = { provider: 'p', api: 'scripted', type: 'mcp', origin: 'natural' } as const
  const result = { isError: false, parts: [{ type: 'text', text: 'so' }] } as const
  const call = { type: 'call', tool: 'look', args: {}, executedBy: 'provider', result } as const
  const calls = Array.from({ length: count }, (_, n) => ({
    item: { ...call, id: `c${n}`, wire: { ...wire, callId: `c${n}` } },
  }))
  const model = scriptedModel([[...calls, { text: 'ok' }]])
  const { toolCalls } = await new TurnRunner({ model }).run({ message: 'go' })
  expect(toolCalls.length).toBe(count)
}

/** The CPU time of some work: the shortest of a few, because others may have waited for a collector. */
async function timeOf(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 3; tries++) {
    const start = cpuTime()
    await work()
    least = Math.min(least, cpuTime() - start)
  }
  return least
}
