import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import type { CallItem } from '../records/history-item.ts'
import { Memory } from '../records/memory.ts'
import { memoryStore } from '../store/memory-store.ts'
import { eventRecorder } from '../testing/event-recorder.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { Middleware } from './middleware.ts'
import { TurnRunner } from './turn-runner.ts'

const memory = (id: string, importance: number) =>
  new Memory({
    id,
    content: `${id} `.repeat(200),
    importance,
    confidence: 1,
    trustTier: 'first-party',
    createdAt: 0,
  })

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
    expect(model.requests[0]?.instructions).toContain('heavy heavy')
    expect(model.requests[0]?.instructions).not.toContain('light light')
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
    const shown = model.requests.map(({ instructions = '' }) =>
      ['early', 'late'].filter((id) => instructions.includes(`id="${id}"`)),
    )
    expect(shown).toEqual([['early'], ['early', 'late']])
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
