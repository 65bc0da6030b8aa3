import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { eventRecorder } from './event-recorder.ts'
import { scriptedModel } from './scripted-model.ts'

describe('eventRecorder', () => {
  it('records both buses in order, until it is stopped', async () => {
    const model = scriptedModel([
      [{ thought: 'hm' }, { call: 'look', id: 'c1' }],
      [{ text: 'done' }],
      [{ text: 'again' }],
    ])
    const runner = new TurnRunner({ model, tools: [sampleTool('look', () => 'seen')] })
    const recorder = eventRecorder(runner)
    await runner.run({ message: 'go' })
    expect(recorder.names).toEqual([
      'turnStart',
      'dispatchStart',
      'iterationStart',
      'thought',
      'toolInput',
      'toolCall',
      'toolExecutionStart',
      'toolExecutionEnd',
      'toolCall',
      'iterationEnd',
      'iterationStart',
      'message',
      'iterationEnd',
      'dispatchEnd',
      'turnEnd',
    ])
    expect(recorder.of('message')).toMatchObject([{ delta: 'done' }])
    const heard = recorder.events.length
    recorder.stop()
    await runner.run({ message: 'go' })
    expect(recorder.events).toHaveLength(heard)
    model.done()
  })
})
