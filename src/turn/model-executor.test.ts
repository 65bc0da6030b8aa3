import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import type { Model } from '../model/model.ts'
import type { ModelEvent } from '../model/model-event.ts'
import { eventRecorder } from '../testing/event-recorder.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { modelExecutor } from './model-executor.ts'
import { TurnRunner } from './turn-runner.ts'

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
})
