import { describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { ToolCall } from '../../records/tool-call.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { type ScriptedPart, scriptedModel } from '../../testing/scripted-model.ts'
import type { Middleware } from '../call/middleware.ts'
import type { Executor } from '../executor/executor.ts'
import { TurnRunner } from '../turn-runner.ts'

const readLog = sampleTool('read_log', () => 'one\ntwo', { inline: false })
const log = { call: 'read_log', id: 'log' }
const head = (id: string, callId: string) => ({ call: 'artifact_head', id, args: { callId } })

/** Runs one response after another and gives the records. */
async function records(steps: readonly ScriptedPart[][], middleware: Middleware[] = []) {
  const model = scriptedModel([...steps, [{ text: 'so' }]])
  const runner = new TurnRunner({ model, tools: [readLog], middleware })
  const { toolCalls } = await runner.run({ message: 'go' })
  return new Map(toolCalls.map((call) => [call.id, call]))
}

describe('a call of an artifact tool', () => {
  const toArtifact = (goesInside: boolean): Middleware => ({
    async call(subject, next) {
      if (!subject.tool.startsWith('artifact_')) return next()
      if (goesInside) await next()
      const results = (await subject.spool('sly')) as SpooledArtifact
      return subject.record({ settlement: 'ok', results })
    },
  })

  it.each([
    ['after it ran', true],
    ['without running it', false],
  ])(
    'is never a subject of artifact tools when a layer gives it an artifact %s',
    async (_, goes) => {
      const steps = [[log], [head('h1', 'log')], [head('h2', 'h1')]]
      const calls = await records(steps, [toArtifact(goes)])
      expect(calls.get('h1')?.fromArtifactTool).toBe(true)
      expect(calls.get('h2')).toMatchObject({ fromArtifactTool: true, settlement: 'refused' })
    },
  )

  it('keeps its marker when a layer makes a record of its own without it', async () => {
    const unmarked: Middleware = {
      async call(subject, next) {
        const own = await next()
        if (!own.fromArtifactTool) return own
        const results = (await subject.spool('sly')) as SpooledArtifact
        return new ToolCall({ ...own, results, fromArtifactTool: false })
      },
    }
    const calls = await records([[log], [head('h1', 'log')], [head('h2', 'h1')]], [unmarked])
    expect(calls.get('h1')).toMatchObject({ fromArtifactTool: true, settlement: 'ok' })
    expect(calls.get('h2')).toMatchObject({ fromArtifactTool: true, settlement: 'refused' })
  })

  it('has the marker when it is refused', async () => {
    const calls = await records([
      [log],
      [{ call: 'artifact_head', id: 'h1', args: { lines: 'x' } }],
    ])
    expect(calls.get('h1')).toMatchObject({ settlement: 'refused', fromArtifactTool: true })
    expect(calls.get('log')?.fromArtifactTool).toBe(false)
  })

  it.each([
    [
      'an unknown call',
      'refused',
      { callId: 'none', pattern: 'x' },
      'Use one of these as `callId`: log',
    ],
    [
      'a pattern that is not supported',
      'failed',
      { callId: 'log', pattern: '(a)\\1' },
      'Back-references',
    ],
    [
      'a cursor of another query',
      'failed',
      { callId: 'log', pattern: 'o', cursor: 'x' },
      'is not a cursor',
    ],
    [
      'a result that is not there',
      'failed',
      { callId: 'log', pattern: 'o', index: 3 },
      'no result 3',
    ],
  ])('does not settle `ok` when it asks for %s', async (_, settlement, args, text) => {
    const calls = await records([[log], [{ call: 'artifact_grep', id: 'g1', args }]])
    const call = calls.get('g1') as ToolCall
    expect(call).toMatchObject({ settlement, isError: true })
    expect((call.results as { text: string }).text).toContain(text)
  })
})

describe('ctx.turnToolCalls', () => {
  it('is in the order in which the calls were asked for, also after a restart', async () => {
    const [first, second] = [byHand<string>(), byHand<string>()]
    const order: string[][] = []
    const store = memoryStore()
    const tools = [
      sampleTool('slow', () => first.promise),
      sampleTool('middle', () => second.promise),
      sampleTool('fast', () => {
        // Each settles before the one that was asked for earlier.
        setTimeout(() => second.resolve('two'), 5)
        setTimeout(() => first.resolve('one'), 20)
        return 'three'
      }),
    ]
    const executor: Executor = async ({ turnToolCalls }) => {
      order.push(turnToolCalls.map(({ id }) => id))
      if (turnToolCalls.length > 0) return { answer: 'done' }
      return { calls: ['slow', 'middle', 'fast'].map((tool) => ({ id: tool, tool, args: {} })) }
    }
    const runner = () => new TurnRunner({ tools, executor, store })
    await runner().run({ conversation: 'c', message: 'go' })
    await runner().run({ conversation: 'c', message: 'again' })
    const asked = ['slow', 'middle', 'fast']
    expect(order).toEqual([[], asked, asked])
  })
})
