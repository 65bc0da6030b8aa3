import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import type { CallRequest } from '../executor/executor.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { DispatchContext } from './dispatch-context.ts'

const LONG = 'word '.repeat(500)
const log = sampleTool('log', ({ q }) => `${q} line\n`.repeat(50), {
  inline: false,
  artifactConstructor: () => SpooledArtifact,
})
const say = sampleTool('say', () => LONG)
const nod = sampleTool('nod', () => 'yes')

/** The ids that one request shows, lists and lets artifact tools read. */
async function shownBy({ items, turnToolCalls, tools }: DispatchContext) {
  const grep = tools.get('artifact_grep')
  const checked = await grep?.validate({ callId: 'none of them', pattern: 'x' })
  const rule = checked?.ok === false ? (checked.issues[0]?.rule ?? '') : ''
  return {
    items: items.flatMap((item) => (item.type === 'call' ? item.id : [])),
    listed: turnToolCalls.map(({ id }) => id),
    offered: grep && (/as `callId`: (.+)$/.exec(rule)?.[1]?.split(', ') ?? []),
  }
}

/** Plays one call after the other, and tells what each request shows. */
async function play(calls: readonly CallRequest[], maxTokens: number, tools = [log, say, nod]) {
  const shown: Awaited<ReturnType<typeof shownBy>>[] = []
  const runner = new TurnRunner({
    tools,
    store: memoryStore(),
    limits: { iterations: 100 },
    budget: { maxTokens },
    executor: async (ctx) => {
      shown.push(await shownBy(ctx))
      const call = calls[ctx.iteration - 1]
      return call === undefined ? { answer: 'done' } : { calls: [call] }
    },
  })
  const recorder = eventRecorder(runner)
  const outcome = await runner.run({ message: 'go' })
  return { shown, outcome, reports: recorder.of('budget') }
}

const asked = (tool: string, n: number, args: object = { q: `${n}` }) => ({
  id: `${tool}${n}`,
  tool,
  args: { ...args },
})

describe('the calls of a request with a budget', () => {
  it('are those that it shows, and so are the ids that artifact tools take', async () => {
    const calls = Array.from({ length: 20 }, (_, n) => asked('log', n))
    const { shown, outcome, reports } = await play(calls, 2_600)
    expect(outcome.status).toBe('completed')
    expect(outcome.toolCalls).toHaveLength(20)
    expect(reports.flatMap(({ dropped }) => dropped)).toContain('log0')
    for (const { items, listed, offered } of shown) {
      expect(listed).toEqual(items)
      expect(offered ?? []).toEqual(items)
    }
    expect(shown.at(-1)?.listed).toContain('log19')
  })

  it('are read no more once they are dropped', async () => {
    const filler = Array.from({ length: 8 }, (_, n) => asked('log', n + 1))
    const late = asked('artifact_grep', 0, { callId: 'log0', pattern: 'line' })
    const { outcome } = await play([asked('log', 0), ...filler, ...filler, late], 2_300)
    expect(outcome.toolCalls.at(-1)).toMatchObject({
      results: { text: expect.stringContaining('no result of a call `log0`') },
    })
  })

  it('keep their tools when the last handle is dropped: the tools of a request never change', async () => {
    const filler = Array.from({ length: 6 }, (_, n) => asked('say', n))
    const { shown, reports, outcome } = await play([asked('log', 0), ...filler], 2_000)
    expect(outcome.status).toBe('completed')
    expect(shown[1]).toEqual({ items: ['log0'], listed: ['log0'], offered: ['log0'] })
    expect(shown.at(-1)?.items).not.toContain('log0')
    expect(shown.at(-1)?.listed).toEqual(shown.at(-1)?.items)
    for (const { items, listed } of shown) expect(listed).toEqual(items)
    expect(reports.at(-1)?.fits).toBe(true)
    for (const { parts } of reports) expect(parts.tools).toEqual(reports[0]?.parts.tools)
  })

  it('stay without a handle that there is no room to read', async () => {
    const { shown, outcome, reports } = await play([asked('say', 0), asked('nod', 0)], 880, [
      say,
      nod,
    ])
    expect(outcome.status).toBe('completed')
    expect(shown.at(-1)).toEqual({ items: ['nod0'], listed: ['nod0'], offered: undefined })
    expect(reports.slice(-3).map(({ fits }) => fits)).toEqual([true, false, true])
    expect(reports.at(-1)?.parts.tools).toEqual(reports[0]?.parts.tools)
  })
})
