import { describe, expect, it } from 'vitest'
import type { Model } from '../model/model.ts'
import type { ModelEvent } from '../model/model-event.ts'
import { eventRecorder } from '../testing/event-recorder.ts'
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
})
