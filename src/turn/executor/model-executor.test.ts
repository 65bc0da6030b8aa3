import { describe, expect, it, vi } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { ModelEvent } from '../../model/events/model-event.ts'
import type { Model } from '../../model/model.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'
import { modelExecutor } from './model-executor.ts'

const parts = [{ type: 'text', text: 'It is ' } as const, { type: 'text', text: 'noon.' } as const]
const finish: ModelEvent = {
  type: 'finish',
  reason: 'stop',
  items: [
    { type: 'thought', text: 'A clock.' },
    { type: 'thought', text: '' },
    { type: 'message', role: 'assistant', parts },
  ],
  unfinished: [],
}

async function heard(...events: readonly ModelEvent[]) {
  const model: Model = {
    api: 'test',
    provider: 'test',
    model: 'test',
    async *stream() {
      yield* events
    },
  }
  const runner = new TurnRunner({ model })
  const recorder = eventRecorder(runner)
  const { text } = await runner.run({ message: 'What time is it?' })
  const texts = (name: 'message' | 'thought') => recorder.of(name).map(({ delta }) => delta)
  return { text, messages: texts('message'), thoughts: texts('thought') }
}

describe('modelExecutor', () => {
  it('tells the texts of a response that came in one piece', async () => {
    expect(await heard(finish)).toEqual({
      text: 'It is noon.',
      messages: ['It is noon.'],
      thoughts: ['A clock.'],
    })
  })

  it('tells nothing twice that was streamed', async () => {
    const pieces = ['It is ', 'noon.'].map(
      (delta): ModelEvent => ({ type: 'text', key: 'm', delta }),
    )
    expect(await heard(...pieces, finish)).toEqual({
      text: 'It is noon.',
      messages: ['It is ', 'noon.'],
      thoughts: [],
    })
  })

  it('gives models a key for their caches that stands for the conversation', async () => {
    const keys: (string | undefined)[] = []
    const model: Model = {
      api: 'test',
      provider: 'test',
      model: 'test',
      async *stream(_, options) {
        keys.push(options?.cacheKey)
        yield finish
      },
    }
    const store = memoryStore()
    for (const conversation of ['ann', 'ann', 'bob']) {
      await new TurnRunner({ model, store }).run({ conversation, message: 'x' })
    }
    const [first, again, other] = keys
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })

  it('asks for a choice of tools while it is told to, and leaves it to the model otherwise', async () => {
    const model = scriptedModel([[{ call: 'search' }], [{ text: 'Found.' }]])
    const first = modelExecutor(model, { toolChoice: { tool: 'search' } })
    const then = modelExecutor(model)
    const runner = new TurnRunner({
      executor: (ctx, helpers) => (ctx.iteration === 1 ? first : then)(ctx, helpers),
      tools: [sampleTool('search', () => 'one result')],
    })
    expect((await runner.run({ message: 'Search.' })).text).toBe('Found.')
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      { tool: 'search' },
      undefined,
    ])
  })

  it('gives up a model that falls silent, tries again, and runs nothing of the first attempt', async () => {
    const never = new Promise(() => {})
    const model = scriptedModel([
      { parts: [{ call: 'search' }], until: never },
      [{ text: 'Back again.' }],
    ])
    const runner = new TurnRunner({
      executor: modelExecutor(model, { maxSilenceMs: 20 }),
      tools: [sampleTool('search', () => 'one result')],
      testing: { sleep: async () => {} },
    })
    const recorder = eventRecorder(runner)
    const { text, toolCalls } = await runner.run({ message: 'Search.' })
    expect({ text, toolCalls }).toEqual({ text: 'Back again.', toolCalls: [] })
    expect(recorder.of('warning')).toMatchObject([
      { code: 'MODEL_RETRY', message: expect.stringContaining('said nothing for 20 ms') },
    ])
  })

  it('leaves a silent model behind that ignores its signal', async () => {
    const deaf: Model = {
      ...{ api: 'test', provider: 'test', model: 'test' },
      async *stream() {
        yield { type: 'text', key: 'a', delta: 'It is ' }
        await new Promise(() => {})
      },
    }
    const executor = modelExecutor(deaf, { maxSilenceMs: 20 })
    const { reason } = await new TurnRunner({ executor, retries: 0 }).run({ message: 'Time?' })
    expect(reason).toMatchObject({ code: 'MODEL_FAILED', errorCode: 'E_STREAM_BROKEN' })
  })

  it('hears an abort while it waits for a word', async () => {
    const model = scriptedModel([{ parts: [{ text: 'x' }], until: new Promise(() => {}) }])
    const abort = new AbortController()
    const runner = new TurnRunner({ executor: modelExecutor(model, { maxSilenceMs: 60_000 }) })
    const running = runner.run({ message: 'go', signal: abort.signal })
    setTimeout(() => abort.abort(), 5)
    expect((await running).status).toBe('aborted')
  })

  it.each([0, -1, Number.NaN, '20', null, true])('refuses a silence of %s ms', (given) => {
    const asks = { maxSilenceMs: given as number }
    expect(() => modelExecutor(scriptedModel([]), asks)).toThrow(
      '`maxSilenceMs` of `modelExecutor` must be a number of milliseconds, at least 1',
    )
  })

  it.each(['any', '', null, 1, {}, { tool: 1 }, { name: 'search' }, [['search']]])(
    'refuses %j as a choice of tools',
    (given) => {
      const asks = { toolChoice: given as 'auto' }
      expect(() => modelExecutor(scriptedModel([]), asks)).toThrow(
        "`toolChoice` of `modelExecutor` must be 'auto', 'none', 'required' or `{ tool: name }`",
      )
    },
  )

  it('refuses options that it does not have', () => {
    expect(() => modelExecutor(scriptedModel([]), { toolChoise: 'none' } as object)).toThrow(
      '`toolChoise` of `modelExecutor` is not an option: use toolChoice, maxSilenceMs',
    )
  })

  it.each([2 ** 31, Number.POSITIVE_INFINITY])('waits for a model for %d ms', async (ms) => {
    const until = new Promise((resolve) => setTimeout(resolve, 20))
    const model = scriptedModel([{ parts: [{ text: 'Here.' }], until }])
    const executor = modelExecutor(model, { maxSilenceMs: ms })
    expect((await new TurnRunner({ executor, retries: 0 }).run({ message: 'go' })).text).toBe(
      'Here.',
    )
  })

  const throws = () => {
    throw new Error('cannot return')
  }
  it.each([
    ['gives no promise', () => ({ done: true })],
    ['throws', throws],
    ['rejects', async () => throws()],
    ['is not there', undefined],
  ])('leaves a silent model behind whose `return` %s', async (_, end) => {
    const iterator = { next: () => new Promise(() => {}), ...(end && { return: end }) }
    const stream = () => ({ [Symbol.asyncIterator]: () => iterator })
    const model = {
      ...{ api: 'test', provider: 'test', model: 'test' },
      stream,
    } as unknown as Model
    const executor = modelExecutor(model, { maxSilenceMs: 20 })
    const { reason } = await new TurnRunner({ executor, retries: 0 }).run({ message: 'Time?' })
    expect(reason).toMatchObject({ code: 'MODEL_FAILED', errorCode: 'E_STREAM_BROKEN' })
  })

  it('takes events that are there at once, as a loop would', async () => {
    const results = [{ value: finish }, { done: true }]
    const stream = () => ({ [Symbol.asyncIterator]: () => ({ next: () => results.shift() }) })
    const model = {
      ...{ api: 'test', provider: 'test', model: 'test' },
      stream,
    } as unknown as Model
    const executor = modelExecutor(model, { maxSilenceMs: 20 })
    expect((await new TurnRunner({ executor }).run({ message: 'Time?' })).text).toBe('It is noon.')
  })

  it('leaves no timer behind when the turn is aborted over a model that ignores it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const abort = new AbortController()
      const deaf: Model = {
        ...{ api: 'test', provider: 'test', model: 'test' },
        async *stream() {
          yield { type: 'text', key: 'a', delta: 'It is ' }
          abort.abort()
          await new Promise(() => {})
        },
      }
      const runner = new TurnRunner({ executor: modelExecutor(deaf, { maxSilenceMs: 60_000 }) })
      const outcome = await runner.run({ message: 'go', signal: abort.signal })
      expect([outcome.status, vi.getTimerCount()]).toEqual(['aborted', 0])
    } finally {
      vi.useRealTimers()
    }
  })

  it('does not abort a model that has finished, whose iterator may be written by hand', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const byHand = {
      ...{ api: 'test', provider: 'test', model: 'test' },
      stream(_: unknown, { signal }: { signal?: AbortSignal }) {
        signals.push(signal)
        const next = () => ({ done: false, value: finish })
        return { [Symbol.asyncIterator]: () => ({ next, return: () => ({ done: true }) }) }
      },
    } as unknown as Model
    const executor = modelExecutor(byHand, { maxSilenceMs: 60_000 })
    const { text, reason } = await new TurnRunner({ executor, retries: 0 }).run({
      message: 'Time?',
    })
    expect({ text, reason }).toEqual({ text: 'It is noon.' })
    expect(signals.map((signal) => signal?.aborted)).toEqual([false])
  })
})
