import { describe, expect, it } from 'vitest'
import type { OpenCallItem } from '../../records/history-item.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { testClock } from '../../testing/store/test-clock.ts'
import { TurnRunner } from '../turn-runner.ts'

const asked: OpenCallItem = {
  type: 'openCall',
  id: 'ask_1',
  tool: 'delete_row',
  args: { row: 7 },
  wire: { provider: 'p', api: 'scripted', type: 'mcp', origin: 'natural', callId: 'ask_1' },
  executedBy: 'provider',
  gate: { kind: 'approval' },
}

/** A conversation whose provider asks before it deletes a row. */
async function waiting() {
  const clock = testClock()
  const store = memoryStore({ clock })
  const first = new TurnRunner({ model: scriptedModel([[{ item: asked }]]), store })
  const { gates, conversation } = await first.run({ conversation: 'c', message: 'delete row 7' })
  const gate = gates[0]?.id ?? ''
  const answer = { gate, approve: true, decidedBy: 'ann' }
  /** What a new process sends to the model. */
  const next = async (method: 'resume' | 'recover' | 'run', decisions: object[] = []) => {
    const model = scriptedModel([[{ text: 'ok' }]])
    const runner = new TurnRunner({ model, store })
    const inputs = { run: { message: 'next' }, resume: { decisions }, recover: {} }
    const { toolCalls } = await runner[method]({ conversation, ...inputs[method] } as never)
    const item = model.requests[0]?.items.find(({ type }) => type === 'openCall')
    return { sent: (item as OpenCallItem | undefined)?.gate?.decision, toolCalls }
  }
  return { clock, store, conversation, gate, answer, next }
}

describe("a provider's request for approval", () => {
  it('cannot be approved with other arguments by `resume`', async () => {
    const { answer, next, store } = await waiting()
    const edited = { ...answer, args: { row: 8 } }
    await expect(next('resume', [edited])).rejects.toMatchObject({ code: 'E_INVALID_DECISION' })
    expect((await store.openGates('c')).map(({ state }) => state)).toEqual(['pending'])
    expect((await next('resume', [answer])).sent).toEqual({ approved: true })
  })

  it('cannot be approved with other arguments by `decideGate`', async () => {
    const { store, gate, next } = await waiting()
    const decision = { verdict: 'edited', decidedBy: 'ann', args: { row: 8 } } as const
    await expect(store.decideGate('c', gate, decision)).rejects.toMatchObject({
      code: 'E_INVALID_STORE_INPUT',
    })
    await store.decideGate('c', gate, { verdict: 'denied', decidedBy: 'ann' })
    const { sent, toolCalls } = await next('recover')
    expect(sent).toEqual({ approved: false })
    expect(toolCalls).toMatchObject([{ settlement: 'denied' }])
  })

  it('is declined before and after a reload when its approval expired unused', async () => {
    const { clock, store, gate, next } = await waiting()
    await store.decideGate('c', gate, { verdict: 'approved', decidedBy: 'ann' })
    clock.advance(25 * 60 * 60 * 1000)
    const live = await next('resume')
    expect(live.toolCalls).toMatchObject([{ settlement: 'abandoned' }])
    expect(live.sent?.approved).toBe(false)
    expect((await next('run')).sent).toEqual(live.sent)
  })
})
