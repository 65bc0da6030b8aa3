import { describe, expect, it } from 'vitest'
import { eventRecorder } from '../../src/testing/event-recorder.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { sampleTool } from '../turn-samples.ts'
import { connectModel } from './connect-model.ts'
import { APIS, samplesOf } from './provider-samples.ts'
import { INPUTS } from './wire-script.ts'

describe.each(APIS)('a call over %s', (api) => {
  it('is announced with the id under which its arguments streamed', async () => {
    const events = samplesOf(api).interleaved
    const { model } = await connectModel(api, [{ events }])
    const runner = new TurnRunner({
      model,
      tools: [sampleTool('look', () => 'seen')],
      limits: { iterations: 1 },
    })
    const recorder = eventRecorder(runner)
    await runner.run({ message: 'go' })
    const streamed = new Map<string, string>()
    for (const { id, delta } of recorder.of('toolInput')) {
      streamed.set(id, (streamed.get(id) ?? '') + delta)
    }
    const told = recorder.of('toolCall').filter(({ isComplete }) => !isComplete)
    expect(told.map(({ args }) => args)).toEqual([{ q: 'a' }, { q: 'b' }])
    expect(told.map(({ inputId = '' }) => streamed.get(inputId))).toEqual(INPUTS)
  })
})
