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
  const store = memoryStore({ clock })
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

  it('of a gate change nothing when the store cannot show it to them', async () => {
    const store = memoryStore()
    const blind = { ...store, gate: () => Promise.reject(new Error('out of reach')) }
    const play = async (isWatched: boolean) => {
      const runner = new TurnRunner({
        model: scriptedModel([[{ call: 'pay' }, { call: 'look' }]]),
        store: blind,
        tools: [
          sampleTool('pay', () => 'paid', { approval: true }),
          sampleTool('look', () => 'seen'),
        ],
      })
      const faults: string[] = []
      if (isWatched) {
        runner.observe('gateOpened', () => {})
        runner.observe('error', ({ where }) => faults.push(where))
      }
      const { status, toolCalls, gates } = await runner.run({ message: 'go' })
      const settled = toolCalls.map(({ settlement }) => settlement)
      return { end: { status, settled, gates: gates.length }, faults }
    }
    const alone = await play(false)
    expect(alone.end).toEqual({ status: 'suspended', settled: ['ok'], gates: 1 })
    expect(await play(true)).toEqual({ end: alone.end, faults: ['gateOpened'] })
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

describe('TurnRunner.stream', () => {
  it('gives the content in order and the outcome', async () => {
    const { runner } = setUp()
    const stream = runner.stream({ message: 'go' })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(types).toEqual([
      'thought',
      'toolInput',
      'toolInput',
      'toolCall',
      'toolCall',
      'toolCall',
      'toolCall',
      'message',
    ])
    expect(await stream.outcome).toMatchObject({ status: 'completed', text: 'done' })
  })

  it('names a new conversation by the ids that the runner was given', async () => {
    let next = 0
    const model = scriptedModel([[{ text: 'x' }]])
    const runner = new TurnRunner({ model, testing: { ids: () => `id-${next++}` } })
    expect((await runner.stream({ message: 'go' }).outcome).conversation).toBe('id-0')
  })

  it('ends every loop over it, and gives each piece once', async () => {
    const { runner } = setUp()
    const stream = runner.stream({ message: 'go' })
    const types: string[] = []
    const read = async () => {
      for await (const event of stream) types.push(event.type)
    }
    await Promise.all([read(), read(), read()])
    expect(types).toHaveLength(8)
    await read()
    expect(types).toHaveLength(8)
  })

  it('keeps what nobody reads until somebody does', async () => {
    const { runner } = setUp()
    const stream = runner.stream({ message: 'go' })
    expect(await stream.outcome).toMatchObject({ status: 'completed' })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(types).toHaveLength(8)
  })

  it('is read as fast, however much of it has waited', async () => {
    const timePerPiece = async (pieces: number) => {
      const runner = new TurnRunner({
        executor: async (_, { message }) => {
          for (let n = 0; n < pieces; n++) message({ id: 'm', delta: `${n}` })
          return { answer: '' }
        },
      })
      const stream = runner.stream({ message: 'go' })
      await stream.outcome
      const deltas: string[] = []
      const start = performance.now()
      for await (const event of stream) if (event.type === 'message') deltas.push(event.delta)
      const time = performance.now() - start
      expect(deltas).toEqual(Array.from({ length: pieces }, (_, n) => `${n}`))
      return time / pieces
    }
    const few: number[] = []
    const many: number[] = []
    for (let round = 0; round < 3; round++) {
      few.push(await timePerPiece(6_000))
      many.push(await timePerPiece(60_000))
    }
    // Moving the rest for each piece that is taken: 15 times and more.
    expect(Math.min(...many) / Math.min(...few)).toBeLessThan(8)
  })

  it('aborts the turn when the loop is left, and has ended then', async () => {
    const model = scriptedModel([[{ call: 'look' }], { until: byHand().promise }])
    const { runner, store } = setUp(model)
    const stream = runner.stream({ message: 'go', conversation: 'c' })
    for await (const event of stream) if (event.type === 'toolCall' && event.isComplete) break
    expect((await store.conversation('c'))?.holder).toBeUndefined()
    expect(await stream.outcome).toMatchObject({ status: 'aborted', reason: { code: 'ABORTED' } })
  })

  it('throws in the loop when the turn cannot begin', async () => {
    const { runner, store } = setUp()
    await store.acquire('busy', { owner: 'somebody' })
    const loop = async () => {
      for await (const _ of runner.stream({ message: 'go', conversation: 'busy' })) break
    }
    await expect(loop()).rejects.toMatchObject({ code: 'E_CONVERSATION_BUSY' })
  })

  it('hears nothing of other conversations', async () => {
    const steps = [[{ text: 'one' }], [{ text: 'two' }]]
    const { runner } = setUp(scriptedModel(steps))
    const stream = runner.stream({ message: 'go' })
    const other = runner.run({ message: 'go' })
    const texts: string[] = []
    for await (const event of stream) if (event.type === 'message') texts.push(event.delta)
    await other
    expect(texts).toHaveLength(1)
  })
})
