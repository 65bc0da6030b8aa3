import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { ModelEvent } from '../../model/events/model-event.ts'
import type { Model } from '../../model/model.ts'
import type { TurnToolCallContent } from '../../records/turn-tool-call-content.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { TurnToolInputContent } from '../events/turn-events.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { Executor } from './executor.ts'
import { modelExecutor } from './model-executor.ts'

const look = sampleTool('look', () => 'seen')

/** Runs a turn; gives the text that streamed under the input that each announcement names. */
async function inputs(options: { model: Model } | { executor: Executor }) {
  const runner = new TurnRunner({ ...options, tools: [look] })
  const recorder = eventRecorder(runner)
  await runner.run({ message: 'go' })
  const streamed = new Map<string, string>()
  for (const { id, delta } of recorder.of('toolInput') as TurnToolInputContent[]) {
    streamed.set(id, `${streamed.get(id) ?? ''}${delta}`)
  }
  const announced = (recorder.of('toolCall') as TurnToolCallContent[]).filter(
    ({ isComplete }) => !isComplete,
  )
  const ids = announced.map(({ inputId }) => inputId)
  return { texts: ids.map((id) => (id === undefined ? undefined : streamed.get(id))), ids }
}

describe('inputId', () => {
  it('ties the announcement of a call to the events of its arguments', async () => {
    const wire = { provider: 'p', api: 'a', type: 'f', origin: 'natural' } as const
    const call = (id: string, args: { q?: string }) =>
      ({ type: 'call', id, tool: 'look', args, wire, executedBy: 'runner' }) as const
    let step = 0
    const model: Model = {
      api: 'a',
      provider: 'p',
      model: 'm',
      async *stream(): AsyncGenerator<ModelEvent> {
        if (step++ > 0) {
          yield { type: 'text', key: '0', delta: 'so' }
          const message = { type: 'message', role: 'assistant', parts: [] } as const
          yield { type: 'finish', reason: 'stop', items: [message], unfinished: [] }
          return
        }
        const piece = (key: string, delta: string) =>
          ({ type: 'toolInput', key, tool: 'look', delta }) as const
        // The pieces of two calls come mixed, and a third call had none.
        yield piece('b', '{"q":')
        yield piece('a', '{ "q" : "a')
        yield piece('b', '"same"}')
        yield piece('a', '" }')
        yield piece('c', '{"q":"same"}')
        const items = [
          call('1', {}),
          call('2', { q: 'same' }),
          call('3', { q: 'a' }),
          call('4', { q: 'same' }),
        ]
        yield { type: 'finish', reason: 'tools', items, unfinished: [] }
      },
    }
    const { texts, ids } = await inputs({ model })
    expect(texts).toEqual([undefined, '{"q":"same"}', '{ "q" : "a" }', '{"q":"same"}'])
    expect(new Set(ids).size).toBe(4)
  })

  it('can be named by an executor of the application', async () => {
    const executor: Executor = async ({ iteration }, helpers) => {
      if (iteration > 1) return { answer: 'so' }
      helpers.toolInput({ id: 'mine', tool: 'look', delta: '{"q":"x"}' })
      return { calls: [{ tool: 'look', args: { q: 'x' }, inputId: 'mine' }] }
    }
    expect((await inputs({ executor })).texts).toEqual(['{"q":"x"}'])
  })

  it('is checked like the rest of a decision', async () => {
    const executor: Executor = async () => ({
      calls: [{ tool: 'look', args: {}, inputId: 7 as never }],
    })
    const runner = new TurnRunner({ executor, tools: [look] })
    const { reason } = await runner.run({ message: 'go' })
    expect(reason?.message).toContain('`calls[0].inputId`')
  })
})

describe('two models in one step', () => {
  it('stream their texts under different ids', async () => {
    const broken = scriptedModel([{ parts: [{ text: 'half' }], breaksOff: true }])
    const whole = scriptedModel([[{ text: 'whole' }]])
    const executor: Executor = async (ctx, helpers) => {
      try {
        return await modelExecutor(broken)(ctx, helpers)
      } catch {
        return modelExecutor(whole)({ ...ctx }, { ...helpers })
      }
    }
    const runner = new TurnRunner({ executor })
    const recorder = eventRecorder(runner)
    expect((await runner.run({ message: 'go' })).text).toBe('whole')
    const texts = recorder.of('message') as { id: string; delta: string }[]
    expect(texts.map(({ delta }) => delta)).toEqual(['half', 'whole'])
    expect(new Set(texts.map(({ id }) => id)).size).toBe(2)
  })
})
