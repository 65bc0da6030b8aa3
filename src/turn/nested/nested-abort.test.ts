import { afterEach, describe, expect, it, vi } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { type ScriptedModel, scriptedModel } from '../../testing/scripted-model.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Effect } from '../../tools/tool-options.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

const ask = (name: string) => ({ call: name, args: { task: 'x' }, id: name })

/** A store that takes its time, as disks do. */
function slowStore(): Store {
  const store = memoryStore()
  const append: Store['append'] = async (...given) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return store.append(...given)
  }
  return { ...store, append }
}

/** Two agents around a call that hangs, and how to cut it off. */
function cutOff(effect: Effect, how: 'abort' | 'time', store: Store) {
  const abort = new AbortController()
  const begun = byHand()
  const work = sampleTool(
    'work',
    () => {
      begun.resolve()
      if (how === 'abort') abort.abort()
      return byHand<string>().promise
    },
    { effect },
  )
  const agent = (name: string, inner: Tool, more: object = {}) =>
    subAgent({
      name,
      description: name,
      agent: { model: scriptedModel([[ask(inner.name)]]), tools: [inner] },
      ...more,
    })
  const outermost = agent('two', agent('one', work), how === 'time' ? { timeoutMs: 400 } : {})
  const model = scriptedModel([[ask('two')], [{ text: 'ok' }]])
  const runner = new TurnRunner({ model, tools: [outermost], store })
  const recorder = eventRecorder(runner)
  const run = runner.run({ message: 'go', conversation: 'k', signal: abort.signal })
  return { run, recorder, model, begun: begun.promise }
}

const toldOf = (model: ScriptedModel) => JSON.stringify(model.requests[1]?.items)

describe('a sub-agent that is cut off', () => {
  afterEach(() => vi.useRealTimers())

  it.each(['abort', 'time'] as const)(
    'has written down how it ended when %s ends it',
    async (how) => {
      const store = slowStore()
      await cutOff('write', how, store).run
      const { entries } = await store.find({ kind: 'turn-end' })
      const ends = entries.map(({ conversation, entry }) => [conversation, entry.data])
      expect(Object.fromEntries(ends)).toMatchObject({
        'k/two/one': { status: 'aborted' },
        'k/two': { status: 'aborted' },
        k: { status: how === 'abort' ? 'aborted' : 'completed' },
      })
      expect((await store.get('k/two/one', 'settlement', 'work'))?.data).toMatchObject({
        settlement: 'in-doubt',
      })
      for (const conversation of ['k', 'k/two', 'k/two/one']) {
        const { epoch } = await store.acquire(conversation, { owner: 'next' })
        await store.release(conversation, epoch)
      }
    },
  )

  it.each(['abort', 'time'] as const)('is in doubt when what it had begun is: %s', async (how) => {
    const { run, recorder, model } = cutOff('write', how, memoryStore())
    expect((await run).toolCalls).toMatchObject([{ id: 'two', settlement: 'in-doubt' }])
    const doubts = recorder.of('warning').filter(({ code }) => code === 'IN_DOUBT')
    expect(doubts.map(({ toolCallId }) => toolCallId)).toEqual(['work', 'one', 'two'])
    if (how === 'time') {
      expect(toldOf(model)).toContain('did not end within 400 ms')
      expect(toldOf(model)).toContain('Calls inside it took effect, or may have.')
    }
  })

  it.each([
    ['abort', 'aborted'],
    ['time', 'timed-out'],
  ] as const)('is in no doubt when nothing in it is: %s', async (how, settlement) => {
    const { run, recorder } = cutOff('read', how, memoryStore())
    expect((await run).toolCalls).toMatchObject([{ id: 'two', settlement }])
    expect(recorder.of('warning')).toEqual([])
  })

  it('is waited for no longer than five seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const store = memoryStore()
    const append: Store['append'] = (...given) =>
      given[0] !== 'k' && given[2].some(({ kind }) => kind === 'settlement')
        ? byHand<never>().promise
        : store.append(...given)
    const { run, begun } = cutOff('read', 'abort', { ...store, append })
    await begun
    let isOver = false
    void run.then(() => {
      isOver = true
    })
    await vi.advanceTimersByTimeAsync(4_900)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    expect((await run).toolCalls).toMatchObject([{ id: 'two', settlement: 'aborted' }])
  })

  it('is in doubt when it fails by itself and leaves something in doubt', async () => {
    const hangs = () => byHand<string>().promise
    const work = sampleTool('work', hangs, { effect: 'write', timeoutMs: 10 })
    const inner = scriptedModel([[ask('work')], { error: new Error('inner bug') }])
    const tool = subAgent({
      name: 'one',
      description: 'one',
      agent: { model: inner, tools: [work] },
    })
    const model = scriptedModel([[ask('one')], [{ text: 'ok' }]])
    const { toolCalls } = await new TurnRunner({ model, tools: [tool] }).run({ message: 'go' })
    expect(toolCalls).toMatchObject([{ settlement: 'in-doubt' }])
    expect(toldOf(model)).toMatch(/inner bug.* Calls inside it took effect, or may have\./)
  })
})
