import { describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import type { Model } from '../../model/model.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { testClock } from '../../testing/store/test-clock.ts'
import { TurnRunner } from '../turn-runner.ts'

const script = () =>
  scriptedModel([
    [{ thought: 'hm' }, { call: 'look', id: 'a' }, { call: 'none', id: 'b' }],
    [{ text: 'done' }],
  ])

function setUp(model = script()) {
  let n = 0
  const clock = testClock()
  const store = memoryStore({ clock, randomBytes: (length) => new Uint8Array(length) })
  const runner = new TurnRunner({
    model,
    store,
    testing: { clock, ids: () => `id-${++n}` },
    tools: [sampleTool('look', () => 'seen')],
    budget: { maxTokens: 100_000 },
  })
  return { runner, store }
}

async function logOf(prepare: (runner: TurnRunner) => unknown) {
  const { runner, store } = setUp()
  prepare(runner)
  const outcome = await runner.run({ message: 'go', conversation: 'c' })
  const log: unknown[] = []
  for await (const { seal: _, ...entry } of store.entries('c')) log.push(entry)
  return JSON.stringify({ log, outcome: { ...outcome, toolCalls: outcome.toolCalls.length } })
}

describe('observers', () => {
  it('change nothing by being there', async () => {
    const alone = await logOf(() => {})
    expect(await logOf(eventRecorder)).toBe(alone)
  })

  it('change nothing by failing, hanging or meddling', async () => {
    const alone = await logOf(() => {})
    const meddle = (content: object) => {
      for (const key of Object.keys(content)) (content as Record<string, unknown>)[key] = 'forged'
    }
    const names = ['turnStart', 'iterationStart', 'toolExecutionStart', 'budget', 'error'] as const
    const prepare = (runner: TurnRunner) => {
      for (const name of names) {
        runner.observe(name, () => {
          throw new Error('observer')
        })
        runner.observe(name, async () => {
          throw new Error('later')
        })
        runner.observe(name, () => byHand().promise)
        runner.observe(name, meddle)
      }
      for (const name of ['toolCall', 'message'] as const) {
        runner.on(name, meddle)
        runner.on(name, () => Promise.reject(new Error('listener')))
      }
    }
    expect(await logOf(prepare)).toBe(alone)
  })

  it('are told of executions in the time of the runner’s clock', async () => {
    const { runner } = setUp()
    const times: number[] = []
    runner.observe('toolExecutionStart', ({ startedAt }) => times.push(startedAt))
    runner.observe('toolExecutionEnd', ({ endedAt }) => times.push(endedAt))
    await runner.run({ message: 'go' })
    expect(times).toEqual([testClock().now(), testClock().now()])
  })

  it('are told once what a model repairs in the history with every request', async () => {
    const repair = { kind: 'missing-result', item: 'c1', message: 'No result.' } as const
    const scripted = scriptedModel([[{ call: 'look', args: {} }], [{ text: 'x' }]])
    const model: Model = {
      api: scripted.api,
      provider: scripted.provider,
      model: scripted.model,
      stream(request, options) {
        options?.onRepair?.(repair)
        return scripted.stream(request, options)
      },
    }
    const runner = new TurnRunner({ model })
    const told: unknown[] = []
    runner.observe('historyRepair', (event, { conversation }) => told.push([event, conversation]))
    const { conversation } = await runner.run({ message: 'go' })
    expect(told).toEqual([[repair, conversation]])
  })

  it('are told of listeners that fail, and where', async () => {
    const { runner } = setUp()
    const faults: string[] = []
    runner.observe('error', ({ error, where }) => {
      faults.push(`${where}: ${(error as Error).message}`)
      throw new Error('not told of itself')
    })
    runner.on('message', () => {
      throw new Error('sync')
    })
    runner.on('thought', async () => {
      throw new Error('async')
    })
    await runner.run({ message: 'go' })
    expect(faults.sort()).toEqual(['message: sync', 'thought: async'])
  })

  it('may come and go while an event is told, which reaches those who were there', async () => {
    const { runner } = setUp()
    const heard: string[] = []
    const listen = () => {
      off()
      if (heard.push('again') < 100) off = runner.on('message', listen)
    }
    let off = runner.on('message', listen)
    runner.on('message', () => {
      heard.push('adds')
      runner.on('message', () => heard.push('late'))
    })
    await runner.run({ message: 'go' })
    expect(heard).toEqual(['again', 'adds'])
  })

  it('cannot change what the next hears, nor where it belongs', async () => {
    const { runner } = setUp()
    const origins: string[] = []
    const deltas: string[] = []
    runner.on('message', (content) => {
      ;(content as { delta: string }).delta = 'forged'
    })
    runner.on('message', ({ delta }) => deltas.push(delta))
    runner.on('message', (_, origin) => {
      ;(origin as { conversation: string }).conversation = 'forged'
    })
    runner.on('message', (_, { conversation }) => origins.push(conversation))
    const stream = runner.stream({ message: 'go', conversation: 'c' })
    const types: string[] = []
    for await (const { type } of stream) types.push(type)
    expect(types).toContain('message')
    expect({ origins, deltas }).toEqual({ origins: ['c'], deltas: ['done'] })
  })

  it('stop hearing when they are removed', async () => {
    const { runner } = setUp()
    let heard = 0
    const off = runner.observe('turnStart', () => heard++)
    off()
    await runner.run({ message: 'go' })
    expect(heard).toBe(0)
  })
})
