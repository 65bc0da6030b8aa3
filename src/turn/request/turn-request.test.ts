import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { CallItem, HistoryItem } from '../../records/history-item.ts'
import { Memory } from '../../records/memory.ts'
import { spokenText } from '../../records/spoken-text.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { Middleware } from '../call/middleware.ts'
import { TurnRunner } from '../turn-runner.ts'

const memory = (id: string, importance: number) =>
  new Memory({
    id,
    content: `${id} `.repeat(200),
    importance,
    confidence: 1,
    trustTier: 'first-party',
    createdAt: 0,
  })

/** What each request shows: memories by their ids, messages by their text, calls. */
const shownBy = ({ requests }: ReturnType<typeof scriptedModel>) =>
  requests.map(({ items }) =>
    items.map((item) => {
      if (item.type !== 'message') return item.type
      return item.context?.id ?? spokenText(item.parts)
    }),
  )

describe('a request', () => {
  it('does not hold the context for which there is no room', async () => {
    const layer: Middleware = {
      dispatch: (ctx, next) => {
        ctx.addMemory(memory('light', 0.1))
        ctx.addMemory(memory('heavy', 0.9))
        return next()
      },
    }
    const model = scriptedModel([[{ text: 'ok' }]])
    const runner = new TurnRunner({ model, middleware: [layer], budget: { maxTokens: 750 } })
    const recorder = eventRecorder(runner)
    await runner.run({ message: 'go' })
    expect(recorder.of('budget')).toMatchObject([{ fits: true, droppedContext: ['light'] }])
    expect(shownBy(model)).toEqual([['heavy', 'go']])
  })

  it('counts the shape that the answer must have', async () => {
    const output = { type: 'object', properties: { disk: { type: 'number' } } } as const
    const model = scriptedModel([[{ text: '{"disk":7}' }]])
    const runner = new TurnRunner({ model, budget: { maxTokens: 10_000 } })
    const recorder = eventRecorder(runner)
    expect(await runner.run({ message: 'go', output })).toMatchObject({ output: { disk: 7 } })
    expect(recorder.of('budget')[0]?.parts.output.tokens).toBeGreaterThan(10)
  })

  it('holds what is added in the middle of a turn', async () => {
    const layer: Middleware = {
      dispatch: (ctx, next) => {
        ctx.addMemory(memory('early', 0.5))
        return next()
      },
      call: (subject, next) => {
        subject.ctx.addMemory(memory('late', 0.5))
        return next()
      },
    }
    const model = scriptedModel([[{ call: 'look' }], [{ text: 'ok' }]])
    const tools = [sampleTool('look', () => 'x')]
    await new TurnRunner({ model, tools, middleware: [layer] }).run({ message: 'go' })
    expect(shownBy(model)).toEqual([
      ['early', 'go'],
      ['early', 'go', 'call', 'late'],
    ])
  })

  it('only grows, whatever middleware adds in each turn', async () => {
    const store = memoryStore()
    const run = async (message: string, ids: readonly string[]) => {
      const layer: Middleware = {
        dispatch: (ctx, next) => {
          for (const id of ids) ctx.addMemory(memory(id, 0.5))
          return next()
        },
      }
      const model = scriptedModel([[{ call: 'look', args: { q: message } }], [{ text: 'ok' }]])
      const tools = [sampleTool('look', () => 'x')]
      const runner = new TurnRunner({ model, tools, store, middleware: [layer] })
      await runner.run({ message, conversation: 'c' })
      return model
    }
    const models = [
      await run('one', ['a', 'b']),
      await run('two', ['b', 'c']),
      await run('three', []),
    ]
    expect(shownBy(models[2] as never)[0]).toEqual([
      'a',
      'b',
      'one',
      'call',
      'ok',
      'c',
      'two',
      'call',
      'ok',
      'three',
    ])
    const requests = models.flatMap((model) => model.requests)
    for (const [at, { items, instructions }] of requests.entries()) {
      const before = requests[at - 1]?.items ?? []
      expect(instructions).toBe(requests[0]?.instructions)
      expect(items.slice(0, before.length)).toEqual(before)
    }
  })

  it('drops context that it has shown before it stops for lack of room', async () => {
    const layer: Middleware = {
      dispatch: (ctx, next) => {
        ctx.addMemory(memory('light', 0.1))
        ctx.addMemory(memory('heavy', 0.9))
        return next()
      },
    }
    const model = scriptedModel([[{ call: 'look' }], [{ call: 'look' }], [{ text: 'ok' }]])
    const tools = [sampleTool('look', () => ({ long: 'x '.repeat(150) }))]
    const budget = { maxTokens: 900 }
    const runner = new TurnRunner({ model, tools, middleware: [layer], budget })
    expect((await runner.run({ message: 'go' })).status).toBe('completed')
    expect(shownBy(model)).toEqual([
      ['light', 'heavy', 'go'],
      ['heavy', 'go', 'call'],
      ['heavy', 'go', 'call', 'call'],
    ])
  })
})

async function listOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const one of source) list.push(one)
  return list
}

describe('what was shed', () => {
  const LONG = 'word '.repeat(1_500)

  /** Three turns, each with a runner of its own; the last two have the budget given. */
  async function turns(budgets: readonly (number | undefined)[]) {
    const store = memoryStore()
    const requests: (readonly HistoryItem[])[][] = []
    for (const [at, maxTokens] of budgets.entries()) {
      const call = { call: 'look', args: { q: `${at}` }, id: `c${at}` }
      const model = scriptedModel([[call], [{ text: `answer ${at}` }]])
      const runner = new TurnRunner({
        model,
        store,
        tools: [sampleTool('look', () => LONG)],
        ...(maxTokens && { budget: { maxTokens } }),
      })
      await runner.run({ message: `turn ${at}`, conversation: 'c' })
      requests.push(model.requests.map(({ items }) => [...items]))
    }
    return { store, requests }
  }

  it.each([
    ['as handles', 4_000],
    ['not at all', 3_000],
  ])('is shown %s by the runners that follow, with or without a budget', async (_, maxTokens) => {
    const { store, requests } = await turns([undefined, undefined, maxTokens, undefined])
    const [shed, next] = [requests[2]?.at(-1) ?? [], requests[3]?.[0] ?? []]
    expect(JSON.stringify(shed)).not.toEqual(JSON.stringify(requests[1]?.at(-1)))
    expect(shed.length).toBeGreaterThan(1)
    expect(next.slice(0, shed.length)).toEqual(shed)
    const entries = await listOf(store.entries('c'))
    const calls = entries.filter(({ kind }) => kind === 'model-call')
    expect(calls.length).toBeGreaterThan(0)
    expect(calls[0]?.data).toMatchObject({ iteration: expect.any(Number), digests: {} })
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  })

  it('does not travel in an export, nor do memories', async () => {
    const { store } = await turns([undefined, 3_000])
    const lines = await listOf(store.export('c'))
    expect(lines.filter((line) => line.includes('"shed"'))).toEqual([])
    const elsewhere = memoryStore()
    await elsewhere.import(lines, { trust: 'developer' })
    expect((await elsewhere.verify({ conversation: 'c' })).faults).toEqual([])
  })
})

describe('a result that became a handle', () => {
  /** What the last of four requests shows of the first call, whose result has become a handle by then. */
  async function handleOf(handler: () => string, approve = true as object | boolean) {
    const steps = ['a', 'b', 'c'].map((id) => [{ call: 'look', args: { q: id }, id }])
    const model = scriptedModel([...steps, [{ text: 'ok' }]])
    const tools = [
      sampleTool('look', ({ q }) => (q === 'b' || q === 'c' ? 'x '.repeat(3_000) : handler()), {
        approval: ({ q }) => q === 'a',
      }),
    ]
    const runner = new TurnRunner({
      model,
      tools,
      store: memoryStore(),
      budget: { maxTokens: 4_000 },
      approve: () => approve as never,
    })
    const recorder = eventRecorder(runner)
    expect((await runner.run({ message: 'go' })).status).toBe('completed')
    expect(recorder.of('budget').flatMap((report) => report.turnedToHandles)).toContain('a')
    const [first] = model.requests.at(-1)?.items.filter(({ type }) => type === 'call') ?? []
    return first as CallItem
  }

  it('still says that the call failed', async () => {
    const { result } = await handleOf(() => {
      throw new Error('y '.repeat(3_000))
    })
    expect(result?.isError).toBe(true)
    expect(JSON.stringify(result?.parts)).toContain('were left out to save room')
  })

  it('still says that a person changed the arguments', async () => {
    const edit = { approve: true, decidedBy: 'ann', args: { q: 'other' } }
    const { result } = await handleOf(() => 'y '.repeat(3_000), edit)
    const shown = JSON.stringify(result?.parts)
    expect(shown).not.toContain('y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y')
    expect(shown).toContain('A person changed the arguments')
  })
})
