import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import { storedResults } from '../store/stored-results.ts'
import { eventRecorder } from '../testing/event-recorder.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { resultText } from './result-text.ts'
import { ToolCall } from './tool-call.ts'

describe('resultText', () => {
  it('gives the same for the live event, the outcome and the restored record', async () => {
    const store = memoryStore()
    const runner = new TurnRunner({
      store,
      tools: [sampleTool('read_log', () => 'one\ntwo', { inline: false })],
      model: scriptedModel([
        [{ call: 'read_log', id: 'log' }],
        [{ call: 'artifact_head', id: 'head', args: { callId: 'log' } }],
        [{ call: 'gone', id: 'gone' }],
        [{ text: 'so' }],
      ]),
    })
    const recorder = eventRecorder(runner)
    const { toolCalls, conversation } = await runner.run({ message: 'go' })
    const live = recorder.of('toolCall').filter(({ isComplete }) => isComplete)
    const spool = storedResults(store)
    const { entries } = await store.find({ conversation, kind: 'settlement' })
    const stored = entries.map(({ entry }) => ToolCall.fromJSON(entry.data, { spool }))
    const expected = [undefined, expect.stringContaining('two'), expect.stringContaining('no such')]
    for (const calls of [live, toolCalls, stored]) {
      expect(calls.map((call) => resultText(call))).toEqual(expected)
    }
    expect(live.map(resultText)).toEqual(stored.map(resultText))
  })

  it('is undefined before there is a result', () => {
    expect(resultText({})).toBeUndefined()
  })
})
