import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { testClock } from '../../testing/store/test-clock.ts'
import { Tool } from '../../tools/tool.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'

type Sample = Parameters<typeof sampleTool>[2]

const again = { conversation: 'k', force: true }
const go = { conversation: 'k', message: 'go' }

const answering = (store: Store, tools: Tool[], more: Partial<TurnRunnerOptions> = {}) =>
  new TurnRunner({
    model: scriptedModel([[{ text: 'so' }]]),
    tools,
    store,
    ...more,
  } as TurnRunnerOptions)

/** A conversation whose process stands still for good in the handler of `work`. */
async function standsStill(options: Sample, more: Partial<TurnRunnerOptions> = {}) {
  const store = memoryStore()
  const begun = byHand()
  const work = sampleTool(
    'work',
    () => {
      begun.resolve()
      return new Promise<string>(() => {})
    },
    options,
  )
  const model = scriptedModel([[{ call: 'work', id: 'c1' }]])
  void new TurnRunner({ model, tools: [work], store, ...more } as TurnRunnerOptions).run(go)
  await begun.promise
  return store
}

async function* objects() {
  yield {}
}

describe('recover', () => {
  it('asks the one who decides in process about a gate that a dead process left', async () => {
    const store = memoryStore()
    const asked = byHand()
    const pay = sampleTool('work', () => 'paid', { effect: 'write', approval: true })
    const model = scriptedModel([[{ call: 'work', id: 'c1' }]])
    const approve = () => {
      asked.resolve()
      return new Promise<boolean>(() => {})
    }
    void new TurnRunner({ model, tools: [pay], store, approve }).run(go)
    await asked.promise
    const outcome = await answering(store, [pay], { approve: async () => true }).recover(again)
    expect(outcome).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'c1', settlement: 'ok' }],
    })
  })

  it.each<[string, () => unknown]>([
    ['a date', () => new Date()],
    ['a stream of objects', objects],
  ])(
    'settles a call whose tool says that it happened with a result that cannot be kept, %s',
    async (_, output) => {
      const store = await standsStill({ effect: 'write' })
      const reconcile = async () => ({ happened: 'yes', output: output() as never }) as const
      const work = sampleTool('work', () => 'x', { effect: 'write', reconcile })
      const outcome = await answering(store, [work]).recover(again)
      expect(outcome).toMatchObject({
        status: 'completed',
        toolCalls: [{ id: 'c1', settlement: 'failed' }],
      })
    },
  )

  it('does not wait for a reconciliation longer than for a call', async () => {
    const store = await standsStill({ effect: 'write' })
    const reconcile = () => new Promise<never>(() => {})
    const work = sampleTool('work', () => 'x', { effect: 'write', reconcile, timeoutMs: 20 })
    const runner = answering(store, [work])
    const recorder = eventRecorder(runner)
    const outcome = await runner.recover(again)
    expect(outcome.toolCalls).toMatchObject([{ id: 'c1', settlement: 'in-doubt' }])
    expect(recorder.of('error')).toMatchObject([{ where: 'reconcile' }])
  })

  it.each(['idempotent', 'write'] as const)(
    'leaves what may have happened for the next time when it is aborted, effect %s',
    async (effect) => {
      const store = await standsStill({ effect })
      const stop = new AbortController()
      const reconcile = async () => {
        stop.abort()
        return { happened: 'unknown' } as const
      }
      const work = sampleTool('work', () => 'done', { effect, reconcile })
      const aborted = await answering(store, [work]).recover({ ...again, signal: stop.signal })
      expect(aborted).toMatchObject({ status: 'aborted', toolCalls: [] })
      const { toolCalls } = await answering(store, [work]).recover(again)
      const settlement = effect === 'write' ? 'in-doubt' : 'ok'
      expect(toolCalls).toMatchObject([{ id: 'c1', settlement }])
    },
  )

  it('does not take a layer that refuses the second attempt for proof that there was no first', async () => {
    const store = await standsStill({ effect: 'idempotent' })
    const work = sampleTool('work', () => 'done', { effect: 'idempotent' })
    const middleware = [{ call: () => Promise.reject(new Error('not today')) }]
    const { toolCalls } = await answering(store, [work], { middleware }).recover(again)
    expect(toolCalls).toMatchObject([{ id: 'c1', settlement: 'in-doubt' }])
  })

  it('does not run an approved call under a definition that nobody approved', async () => {
    const approve = async () => true
    const gated = { effect: 'idempotent', approval: true } as const
    const store = await standsStill(gated, { approve })
    const work = sampleTool('work', () => 'done', { ...gated, description: 'Does more.' })
    const { toolCalls } = await answering(store, [work]).recover(again)
    expect(toolCalls).toMatchObject([{ id: 'c1', settlement: 'in-doubt' }])
    const same = await standsStill(gated, { approve })
    const outcome = await answering(same, [sampleTool('work', () => 'x', gated)]).recover(again)
    expect(outcome.toolCalls).toMatchObject([{ id: 'c1', settlement: 'ok' }])
  })
})

describe('recover, of a call that a person had changed', () => {
  it.each([
    ['write', 'In doubt'],
    ['idempotent', 'done'],
  ] as const)('tells the model so, effect %s', async (effect, shown) => {
    const approve = async () => ({ approve: true, decidedBy: 'ann', args: { q: 'less' } })
    const gated = { effect, approval: true } as const
    const store = await standsStill(gated, { approve })
    const model = scriptedModel([[{ text: 'so' }], [{ text: 'so' }]])
    const work = sampleTool('work', () => 'done', gated)
    const runner = new TurnRunner({ model, tools: [work], store })
    await runner.recover(again)
    await runner.run(go)
    for (const { items } of model.requests) {
      const call = JSON.stringify(items.find(({ type }) => type === 'call'))
      expect(call).toContain(shown)
      expect(call).toContain('A person changed the arguments')
    }
    expect(model.requests).toHaveLength(2)
  })
})

describe('resume', () => {
  /** Two calls that wait for approval, and what they do once they may. */
  async function twoApproved(more: Sample = {}, options: Partial<TurnRunnerOptions> = {}) {
    const store = memoryStore()
    let running = 0
    let most = 0
    const work = sampleTool(
      'work',
      async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 20))
        running--
        return 'done'
      },
      { effect: 'write', approval: true, ...more },
    )
    const calls = ['c1', 'c2', 'c3'].map((id) => ({ call: 'work', id, args: { q: id } }))
    const first = new TurnRunner({ model: scriptedModel([calls]), tools: [work], store })
    const { gates } = await first.run(go)
    const decisions = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
    const runner = answering(store, [work], options)
    const outcome = await runner.resume({ conversation: 'k', decisions })
    return { most, ids: outcome.toolCalls.map(({ id, settlement }) => `${id} ${settlement}`) }
  }

  const all = ['c1 ok', 'c2 ok', 'c3 ok']

  it('runs what was approved side by side, as one response', async () => {
    expect(await twoApproved()).toEqual({ most: 3, ids: all })
  })

  it('keeps to the cap and to tools that run alone', async () => {
    expect(await twoApproved({}, { concurrency: 2 })).toEqual({ most: 2, ids: all })
    expect(await twoApproved({ exclusive: true })).toEqual({ most: 1, ids: all })
  })
})

describe('resume, too late', () => {
  it('leaves no gate open whose decision ran out at the last moment', async () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    let isLate = false
    const inputSchema = z.object({}).refine(() => {
      if (isLate) clock.advance(25 * 60 * 60 * 1000)
      return true
    })
    const work = new Tool({
      name: 'work',
      description: 'Works.',
      inputSchema,
      effect: 'write',
      approval: true,
      handler: () => 'done',
    })
    const model = scriptedModel([[{ call: 'work', id: 'c1' }]])
    const { gates } = await new TurnRunner({ model, tools: [work], store, testing: { clock } }).run(
      go,
    )
    const decisions = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
    isLate = true
    const outcome = await answering(store, [work], { testing: { clock } }).resume({
      conversation: 'k',
      decisions,
    })
    expect(outcome.toolCalls).toMatchObject([{ id: 'c1', settlement: 'refused' }])
    expect(await store.openGates('k')).toEqual([])
  })
})

describe('a call in doubt', () => {
  it('is told to the operator also when it was only given up', async () => {
    const store = memoryStore()
    const work = sampleTool('work', () => new Promise<string>(() => {}), {
      effect: 'write',
      timeoutMs: 20,
    })
    const model = scriptedModel([[{ call: 'work', id: 'c1' }], [{ text: 'so' }]])
    const runner = new TurnRunner({ model, tools: [work], store })
    const recorder = eventRecorder(runner)
    const { toolCalls } = await runner.run(go)
    expect(toolCalls).toMatchObject([{ settlement: 'in-doubt' }])
    expect(recorder.of('warning')).toMatchObject([{ code: 'IN_DOUBT', toolCallId: 'c1' }])
    const { entries } = await store.find({ conversation: 'k', kind: 'note' })
    expect(entries.map(({ entry }) => entry.data)).toMatchObject([
      { code: 'IN_DOUBT', data: { toolCallId: 'c1' } },
    ])
  })

  it('is not called refused because a layer failed while it ran', async () => {
    const store = memoryStore()
    const work = sampleTool('work', async () => 'done', { effect: 'write' })
    const model = scriptedModel([[{ call: 'work', id: 'c1' }], [{ text: 'so' }]])
    const middleware = [
      {
        call: (_: unknown, next: () => Promise<never>) => {
          void next()
          return Promise.reject(new Error('too soon'))
        },
      },
    ]
    const { toolCalls } = await new TurnRunner({ model, tools: [work], store, middleware }).run(go)
    expect(toolCalls).toMatchObject([{ id: 'c1', settlement: 'ok' }])
  })
})
