import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../turn-runner.ts'

/** Runs one call; gives the next request as text, its tools, and the warnings. */
async function shown(tool: Tool) {
  const store = memoryStore()
  const model = scriptedModel([[{ call: tool.name, id: 'c1' }], [{ text: 'so' }], [{ text: 'x' }]])
  const runner = new TurnRunner({ model, tools: [tool], store })
  const recorder = eventRecorder(runner)
  await runner.run({ conversation: 'c', message: 'go' })
  await runner.run({ conversation: 'c', message: 'again' })
  const [, request] = model.requests
  const text = JSON.stringify(request?.items)
  return { text, tools: request?.tools ?? [], warnings: recorder.of('warning') }
}

describe('a result of a tool that shows results inline', () => {
  it('is shown whole, however large, without a warning', async () => {
    const large = 'word '.repeat(300_000)
    const { text, tools, warnings } = await shown(sampleTool('read', () => large))
    expect(text).toContain(large)
    expect(tools.map(({ name }) => name)).toEqual(['read'])
    expect(warnings).toEqual([])
  })

  it('is shown whole when it consists of many artifacts', async () => {
    const pieces = sampleTool('read', async (_args, ctx) =>
      Promise.all(Array.from({ length: 40 }, (_, n) => ctx.spool(`<piece ${n}>`))),
    )
    const { text, tools, warnings } = await shown(pieces)
    for (let n = 0; n < 40; n++) expect(text).toContain(`<piece ${n}>`)
    expect(tools.map(({ name }) => name)).toEqual(['read'])
    expect(warnings).toEqual([])
  })

  it('is a handle with a warning beyond 10 MB, which no provider takes', async () => {
    const huge = 'word '.repeat(2_000_001)
    const { text, tools, warnings } = await shown(sampleTool('read', () => huge))
    expect(text.length).toBeLessThan(20_000)
    expect(tools.map(({ name }) => name)).toContain('artifact_grep')
    expect(warnings).toMatchObject([{ code: 'RESULT_TOO_LARGE', toolCallId: 'c1' }])
  })
})
