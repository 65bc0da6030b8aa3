import { describe, expect, it } from 'vitest'
import { memoryStore } from '../store/memory-store.ts'
import { eventRecorder } from '../testing/event-recorder.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { byHand, sampleTool } from '../testing/turn-samples.ts'
import type { Middleware } from './middleware.ts'
import { TurnRunner } from './turn-runner.ts'

const ticks = async (count: number) => {
  for (let n = 0; n < count; n++) await Promise.resolve()
}

const layered: Middleware = {
  turn: async (_, next) => next(),
  dispatch: async (_, next) => next(),
  async call(_, next) {
    await ticks(2)
    const call = await next()
    await ticks(2)
    return call
  },
}

/** Everything that a turn can wait for, in one turn. */
function busyTurn(signal: AbortSignal) {
  const store = memoryStore()
  const startedAfterAbort: string[] = []
  const work = (name: string) => async () => {
    if (signal.aborted) startedAfterAbort.push(name)
    await ticks(5)
    return `${name} did it`
  }
  const model = scriptedModel([
    [
      { thought: 'hm' },
      { call: 'read', id: 'r1' },
      { call: 'write', id: 'w1' },
      { call: 'gated', id: 'g1' },
      { call: 'unknown', id: 'u1' },
      { call: 'alone', id: 'a1' },
      { call: 'read', args: { q: 'x' }, id: 'r2' },
    ],
    [{ call: 'write', args: { q: 'y' }, id: 'w2' }],
    [{ text: 'done' }],
  ])
  const runner = new TurnRunner({
    model,
    store,
    policy: 'open',
    middleware: [layered],
    approve: async () => {
      await ticks(3)
      return { approve: true, decidedBy: 'ann', args: { q: 'edited' } }
    },
    tools: [
      sampleTool('read', work('read')),
      sampleTool('write', work('write'), { effect: 'write' }),
      sampleTool('gated', work('gated'), { effect: 'write', approval: true }),
      sampleTool('alone', work('alone'), { exclusive: true }),
    ],
  })
  return { store, runner, startedAfterAbort, recorder: eventRecorder(runner) }
}

async function abortedAfter(count: number) {
  const abort = new AbortController()
  const turn = busyTurn(abort.signal)
  const state = { isOver: false }
  const running = turn.runner
    .run({ message: 'go', conversation: 'c', signal: abort.signal })
    .finally(() => (state.isOver = true))
  for (let n = 0; n < count && !state.isOver; n++) await Promise.resolve()
  const wasOver = state.isOver
  abort.abort()
  const outcome = await running
  await ticks(50)
  return { ...turn, outcome, wasOver }
}

async function goesOn(store: ReturnType<typeof memoryStore>) {
  const model = scriptedModel([[{ text: 'still here' }]])
  const outcome = await new TurnRunner({ model, store }).run({ message: 'and?', conversation: 'c' })
  const calls = model.requests[0]?.items.filter(({ type }) => type === 'call') ?? []
  return { outcome, unanswered: calls.filter((item) => !('result' in item)) }
}

describe('an abort', () => {
  it('at every await point starts nothing afterwards, settles what started and leaves a sound log', async () => {
    const statuses: string[] = []
    for (let at = 0; at < 4_000; at++) {
      const { outcome, wasOver, store, recorder, startedAfterAbort } = await abortedAfter(at)
      statuses.push(outcome.status)
      expect(startedAfterAbort, `after ${at}`).toEqual([])
      const settled = new Set(outcome.toolCalls.map(({ id }) => id))
      const told = recorder.of('toolCall')
      const announced = told.filter(({ isComplete }) => !isComplete).map(({ id }) => id)
      const completed = told.filter(({ isComplete }) => isComplete).map(({ id }) => id)
      expect([...completed].sort(), `after ${at}`).toEqual([...announced].sort())
      const started = recorder.of('toolExecutionStart').map(({ toolCallId }) => toolCallId)
      expect(
        started.filter((id) => !settled.has(id ?? '')),
        `after ${at}`,
      ).toEqual([])
      expect(await store.openGates('c'), `after ${at}`).toEqual([])
      if (wasOver) break
      // Reading everything again costs more than the turn, so every fifth log has to do.
      if (at % 5 === 0) {
        expect((await store.verify({ conversation: 'c' })).faults, `after ${at}`).toEqual([])
        const next = await goesOn(store)
        expect(next.outcome.status, `after ${at}`).toBe('completed')
        expect(next.unanswered, `after ${at}`).toEqual([])
      }
      if (outcome.status !== 'completed') {
        expect(outcome).toMatchObject({ status: 'aborted', reason: { code: 'ABORTED' } })
      }
    }
    expect(statuses.filter((status) => status === 'aborted').length).toBeGreaterThan(100)
    expect(statuses.at(-1)).toBe('completed')
  }, 60_000)

  it('before the turn begins runs nothing and asks nobody', async () => {
    const model = scriptedModel([])
    const outcome = await new TurnRunner({ model }).run({
      message: 'go',
      signal: AbortSignal.abort(),
    })
    expect(outcome).toMatchObject({ status: 'aborted', text: '', toolCalls: [] })
    model.done()
  })

  it('reaches a model, an executor that ignores it, an approval and a policy that hang', async () => {
    const hang = () => new Promise<never>(() => {})
    const call = [{ call: 'tool' }]
    const tool = sampleTool('tool', () => 'x')
    const gated = sampleTool('tool', () => 'x', { approval: true })
    const policy = sampleTool('tool', () => 'x', { approval: hang })
    const runners = [
      new TurnRunner({ model: scriptedModel([{ until: byHand().promise }]), tools: [tool] }),
      new TurnRunner({ executor: hang }),
      new TurnRunner({ model: scriptedModel([call]), tools: [gated], approve: hang }),
      new TurnRunner({ model: scriptedModel([call]), tools: [policy] }),
    ]
    const outcomes = await Promise.all(
      runners.map((runner) => runner.run({ message: 'go', signal: AbortSignal.timeout(30) })),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('aborted'))
    expect(outcomes.map(({ toolCalls }) => toolCalls.map(({ settlement }) => settlement))).toEqual([
      [],
      [],
      ['aborted'],
      ['aborted'],
    ])
  })

  it('by an observer of the start keeps the handler from starting', async () => {
    const abort = new AbortController()
    let runs = 0
    const runner = new TurnRunner({
      model: scriptedModel([[{ call: 'tool' }]]),
      tools: [sampleTool('tool', () => `${++runs}`)],
    })
    runner.observe('toolExecutionStart', () => abort.abort())
    const outcome = await runner.run({ message: 'go', signal: abort.signal })
    expect(outcome).toMatchObject({ status: 'aborted', toolCalls: [{ settlement: 'aborted' }] })
    expect(runs).toBe(0)
  })

  it('of a tool that must not repeat leaves its call in doubt', async () => {
    const abort = new AbortController()
    const pay = sampleTool(
      'pay',
      () => {
        abort.abort()
        return new Promise(() => {})
      },
      { effect: 'write' },
    )
    const runner = new TurnRunner({ model: scriptedModel([[{ call: 'pay' }]]), tools: [pay] })
    const outcome = await runner.run({ message: 'go', signal: abort.signal })
    expect(outcome).toMatchObject({ status: 'aborted', toolCalls: [{ settlement: 'in-doubt' }] })
  })
})
