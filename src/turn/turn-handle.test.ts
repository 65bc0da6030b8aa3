import { describe, expect, it } from 'vitest'
import { FeedState } from '../../test/feed-state.ts'
import { byHand, sampleTool } from '../../test/turn-samples.ts'
import type { FeedEvent } from '../store/feed/feed-event.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import { comparePositions } from '../store/position.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { TurnHandle } from './turn-handle.ts'
import { TurnRunner } from './turn-runner.ts'

const script = () =>
  scriptedModel([
    [{ thought: 'hm' }, { call: 'look', id: 'a' }, { call: 'none', id: 'b' }],
    [{ text: 'done' }],
  ])

function setUp(model = script()) {
  let n = 0
  const store = memoryStore()
  const runner = new TurnRunner({
    model,
    store,
    testing: { ids: () => `id-${++n}` },
    tools: [
      sampleTool('look', (_, ctx) => {
        ctx.progress(50)
        return 'seen'
      }),
    ],
  })
  return { runner, store }
}

/** Reads a handle to its end. */
async function read(handle: TurnHandle): Promise<FeedEvent[]> {
  const events: FeedEvent[] = []
  for await (const event of handle) events.push(event)
  return events
}

const brief = (event: FeedEvent) => {
  const form = 'delta' in event && event.delta !== undefined ? ' …' : ''
  const whole = 'isComplete' in event && event.isComplete ? ' whole' : ''
  return `${event.type}${form}${whole}`
}

const stateOf = (events: readonly FeedEvent[]) => {
  const state = new FeedState()
  for (const event of events) state.apply(event)
  return JSON.stringify(state)
}

const positions = (events: readonly FeedEvent[]) => events.map(({ position }) => position)

describe('a turn handle', () => {
  it('is a promise of the outcome, and its part of the feed in order', async () => {
    const { runner } = setUp()
    const handle = runner.run({ message: 'go', conversation: 'c' })
    expect(handle).toBeInstanceOf(Promise)
    expect(handle.outcome).toBe(handle)
    expect(Object.getPrototypeOf(handle.then(() => {}))).toBe(Promise.prototype)
    const events = await read(handle)
    expect(events.map(brief)).toEqual([
      'turnStart',
      'message whole',
      'thought …',
      'toolInput …',
      'toolInput …',
      'modelCall',
      'thought whole',
      'toolCall',
      'toolCall',
      'toolCall whole',
      'progress',
      'toolCall whole',
      'message …',
      'modelCall',
      'message whole',
      'turnEnd',
    ])
    const { turnId, conversation } = handle
    expect(await handle).toMatchObject({ status: 'completed', text: 'done', turnId, conversation })
    for (const event of events) expect(event).toMatchObject({ turnId, conversation })
  })

  it('gives positions that strictly increase: those of entries end in 0', async () => {
    const { runner, store } = setUp()
    const events = await read(runner.run({ message: 'go', conversation: 'c' }))
    const all = positions(events)
    expect(all.toSorted(comparePositions)).toEqual(all)
    expect(new Set(all).size).toBe(all.length)
    const kinds = new Map<string, string>()
    for await (const { seq, kind } of store.entries('c')) kinds.set(`${seq}.0`, kind)
    const durable = events.filter(({ position }) => position.endsWith('.0'))
    expect(durable.map(({ position }) => kinds.get(position))).toEqual([
      'turn-start',
      'message',
      'model-call',
      'thought',
      'history-item',
      'history-item',
      'settlement',
      'settlement',
      'model-call',
      'message',
      'turn-end',
    ])
    expect(durable.map(({ time }) => Number.isInteger(time))).not.toContain(false)
  })

  it('stores a text under the id that it streamed under', async () => {
    const { runner } = setUp()
    const events = await read(runner.run({ message: 'go' }))
    for (const type of ['message', 'thought']) {
      const ids = events.flatMap((event) =>
        event.type === type && !('role' in event && event.role === 'user') && 'id' in event
          ? event.id
          : [],
      )
      expect(ids).toHaveLength(2)
      expect(new Set(ids).size).toBe(1)
    }
    const inputs = events.flatMap((event) => (event.type === 'toolInput' ? event.id : []))
    const named = events.flatMap((event) =>
      event.type === 'toolCall' ? (event.inputId ?? []) : [],
    )
    expect(named).toEqual(inputs)
  })

  it('begins every iteration with the first event, during the turn and after it', async () => {
    const { runner } = setUp()
    const handle = runner.run({ message: 'go' })
    const [first, second] = await Promise.all([read(handle), read(handle)])
    expect(second).toEqual(first)
    const later = await read(handle)
    const durable = first.filter(({ position }) => position.endsWith('.0'))
    expect(JSON.stringify(later)).toBe(JSON.stringify(durable))
    expect(stateOf(later)).toBe(stateOf(first))
  })

  it('gives a reader who comes in the middle the text so far', async () => {
    const more = byHand()
    const started = byHand()
    const runner = new TurnRunner({
      executor: async (_, { message, thought }) => {
        thought({ id: 't', delta: 'hm' })
        message({ id: 'm', delta: 'Hel' })
        message({ id: 'm', delta: 'lo ' })
        started.resolve()
        await more.promise
        message({ id: 'm', delta: 'you' })
        return { answer: 'Hello you' }
      },
    })
    const handle = runner.run({ message: 'go' })
    const all = read(handle)
    await started.promise
    const late = read(handle)
    await new Promise((resolve) => setTimeout(resolve, 20))
    more.resolve()
    const texts = (await late).flatMap((event) =>
      event.type === 'message' ? [event.text ?? `+${event.delta}`] : [],
    )
    expect(texts).toEqual(['go', 'Hello ', '+you', 'Hello you'])
    expect(stateOf(await late)).toBe(stateOf(await all))
    const seen = positions(await late)
    expect(seen.toSorted(comparePositions)).toEqual(seen)
  })

  it('goes on when an iteration is left', async () => {
    const go = byHand()
    const model = scriptedModel([[{ call: 'look' }], { until: go.promise }])
    const { runner } = setUp(model)
    const handle = runner.run({ message: 'go' })
    for await (const event of handle) if (event.type === 'toolCall' && event.isComplete) break
    setTimeout(handle.abort, 20)
    expect(await handle).toMatchObject({ status: 'aborted', reason: { code: 'ABORTED' } })
  })

  it('aborts its turn, also before it has opened the conversation', async () => {
    const { runner } = setUp()
    const handle = runner.run({ message: 'go' })
    handle.abort()
    expect(await handle).toMatchObject({ status: 'aborted', reason: { code: 'ABORTED' } })
  })

  it('throws in the iteration what the turn cannot begin with, and is not unhandled then', async () => {
    const { runner, store } = setUp()
    await store.acquire('busy', { owner: 'somebody' })
    const reading = read(runner.run({ message: 'go', conversation: 'busy' }))
    await expect(reading).rejects.toMatchObject({ code: 'E_CONVERSATION_BUSY' })
  })

  it('never throws by itself', async () => {
    const { runner } = setUp()
    for (const input of [
      undefined,
      null,
      7,
      {},
      { message: 7 },
      { message: 'x', conversation: 7 },
    ]) {
      const handles = [runner.run, runner.stream, runner.resume, runner.recover].map((start) =>
        start.call(runner, input as never),
      )
      for (const handle of handles) {
        await expect(handle).rejects.toMatchObject({ code: 'E_INVALID_TURN_INPUT' })
      }
    }
    const noIds = new TurnRunner({
      model: script(),
      testing: {
        ids: () => {
          throw new Error('none')
        },
      },
    })
    await expect(noIds.run({ message: 'go' })).rejects.toMatchObject({ code: 'E_INVALID_RUNNER' })
  })

  it('of resume and recover gives their own events', async () => {
    const store = memoryStore()
    const tools = [sampleTool('pay', () => 'paid', { effect: 'write', approval: true })]
    const model = scriptedModel([[{ call: 'pay', id: 'p' }], [{ text: 'done' }]])
    const runner = new TurnRunner({ store, tools, model })
    const first = await read(runner.run({ conversation: 'c', message: 'go' }))
    expect(first.at(-1)).toMatchObject({ type: 'turnEnd', status: 'suspended' })
    const [gate] = first.flatMap((event) => (event.type === 'gateOpened' ? event.gate : []))
    expect(gate).toEqual((await store.openGates('c'))[0])
    const decisions = [{ gate: gate?.id ?? '', approve: true, decidedBy: 'ann' }]
    const second = await read(runner.resume({ conversation: 'c', decisions }))
    expect(second.map(brief)).toEqual([
      'turnStart',
      'gateDecided',
      'toolCall whole',
      'message …',
      'modelCall',
      'message whole',
      'turnEnd',
    ])
    expect(second[0]).toMatchObject({ input: 'resume' })
    expect(second[1]).toMatchObject({ decidedBy: 'ann', gate: { id: gate?.id, state: 'consumed' } })
    const third = await read(runner.recover({ conversation: 'c' }))
    expect(third.map(brief)).toEqual(['turnStart', 'turnEnd'])
  })

  it('ends its iteration although the store cannot keep the end of the turn', async () => {
    const inner = memoryStore()
    const failing = byHand()
    const store = {
      ...inner,
      append: async (...given: Parameters<typeof inner.append>) => {
        const [, , entries] = given
        if (entries.some(({ kind }) => kind === 'turn-end')) throw new Error('full')
        return inner.append(...given)
      },
    }
    failing.resolve()
    const runner = new TurnRunner({ store, model: scriptedModel([[{ text: 'x' }]]) })
    const events = await read(runner.run({ message: 'go' }))
    expect(events.map(brief)).toEqual([
      'turnStart',
      'message whole',
      'message …',
      'modelCall',
      'message whole',
    ])
  })

  it('tells entries in the order of the log, although the store answers in another', async () => {
    const inner = memoryStore()
    const store = {
      ...inner,
      append: async (...given: Parameters<typeof inner.append>) => {
        const appended = await inner.append(...given)
        const ends = given[2].flatMap(({ kind, data }) =>
          kind === 'settlement' ? [(data as { id?: string }).id] : [],
        )
        if (ends.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 30))
        return appended
      },
    }
    const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const tools = [
      sampleTool('soon', () => 'x'),
      sampleTool('late', async () => {
        await later(10)
        return 'y'
      }),
    ]
    const calls = [
      { call: 'soon', id: 'slow' },
      { call: 'late', id: 'quick' },
    ]
    const model = scriptedModel([calls, [{ text: 'done' }]])
    const events = await read(new TurnRunner({ store, model, tools }).run({ message: 'go' }))
    const ended = events.flatMap((event) =>
      event.type === 'toolCall' && event.isComplete ? [event.id] : [],
    )
    expect(ended).toEqual(['slow', 'quick'])
    const all = positions(events)
    expect(all.toSorted(comparePositions)).toEqual(all)
  })

  it('gives a slow reader what it missed from the log', async () => {
    const runner = new TurnRunner({
      executor: async (_, { message }) => {
        for (let n = 0; n < 20_000; n++) message({ id: 'm', delta: 'x' })
        return { answer: 'x'.repeat(20_000) }
      },
    })
    const handle = runner.run({ message: 'go' })
    const events: FeedEvent[] = []
    for await (const event of handle) {
      events.push(event)
      if (events.length === 1) await handle
    }
    expect(events.length).toBeLessThan(5_000)
    const last = events.findLast(({ type }) => type === 'message')
    expect(last).toMatchObject({ isComplete: true, text: 'x'.repeat(20_000) })
    expect(events.at(-1)).toMatchObject({ type: 'turnEnd', status: 'completed' })
  })

  it('gives nothing of other conversations', async () => {
    const { runner } = setUp(scriptedModel([[{ text: 'one' }], [{ text: 'two' }]]))
    const handle = runner.run({ message: 'go' })
    const other = runner.run({ message: 'go' })
    const events = await read(handle)
    await other
    expect(new Set(events.map(({ conversation }) => conversation))).toEqual(
      new Set([handle.conversation]),
    )
  })
})
