import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { ToolOutput } from '../../tools/tool-context.ts'
import { TurnRunner } from '../turn-runner.ts'

class Row {
  readonly id = 1
}
const circle: { inner: { back?: unknown } } = { inner: {} }
circle.inner.back = circle

/** How a call ends whose handler gives this, whatever types say. */
async function settled(output: unknown): Promise<string> {
  const runner = new TurnRunner({
    tools: [sampleTool('give', () => output as ToolOutput)],
    executor: async ({ iteration }) =>
      iteration === 1 ? { calls: [{ tool: 'give', args: {} }] } : { answer: 'Done.' },
  })
  const { status, toolCalls } = await runner.run({ message: 'Go.' })
  const [call] = toolCalls
  const results = call?.results as SpooledArtifact | Tokenizable
  const text = Tokenizable.isTokenizable(results) ? results.text : await results.asString()
  return `${status} ${call?.settlement} ${text}`
}

describe('settleOutput', () => {
  it.each([
    [undefined, 'null'],
    [null, 'null'],
    ['', ''],
    [0, '0'],
    [{ a: undefined, b: 1 }, '{\n  "b": 1\n}'],
    [[], '[]'],
    [new TextEncoder().encode('bytes'), 'bytes'],
    [new Response('streamed').body, 'streamed'],
  ])('stores %j', async (output, text) => {
    expect(await settled(output)).toBe(`completed ok ${text}`)
  })

  it.each([
    [10n, '`output` has no JSON form'],
    [{ rows: [1, 10n] }, '`output.rows[1]` has no JSON form'],
    [circle, '`output.inner.back` contains itself'],
    [new Row(), '`output` is not a plain object or array'],
    [[new Row()], '`output[0]` is not a plain object or array'],
    [new Response('whole'), '`output` is not a plain object or array'],
    [{ at: new Date(0) }, '`output.at` is not a plain object or array'],
    [{ row: Promise.resolve(1) }, '`output.row` is not a plain object or array'],
    [Number.NaN, '`output` is not a finite number'],
    [() => 'late', '`output` has no JSON form'],
  ])(
    'ends the call and not the turn, naming the place, for what has no form: %#',
    async (output, why) => {
      const end = await settled(output)
      expect(end).toContain(`completed failed ${why}`)
      expect(end).not.toContain('args')
    },
  )

  it('says that a promise inside an output must be awaited', async () => {
    expect(await settled({ row: Promise.resolve(1) })).toContain('it is a Promise: await it first')
  })
})
