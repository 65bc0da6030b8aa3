import { describe, expect, it } from 'vitest'
import { diesBehind } from '../../../test/mortal-store.ts'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { CallItem, OpenCallItem } from '../../records/history-item.ts'
import type { TurnToolCallContent } from '../../records/turn-tool-call-content.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { type ScriptedModel, scriptedModel } from '../../testing/scripted-model.ts'
import { testClock } from '../../testing/store/test-clock.ts'
import type { TurnOutcome } from '../limits/outcome.ts'
import { subAgent } from '../nested/sub-agent.ts'
import { TurnRunner } from '../turn-runner.ts'

const ASKED_AT = Date.UTC(2026, 4, 1)
const LATER = Date.UTC(2026, 4, 2)
const wire = { provider: 'p', api: 'scripted', type: 'mcp', origin: 'natural' } as const
const open: OpenCallItem = {
  type: 'openCall',
  id: 'ask_1',
  tool: 'delete_row',
  args: { row: 7 },
  wire: { ...wire, callId: 'ask_1' },
  executedBy: 'provider',
}
const gated: OpenCallItem = { ...open, gate: { kind: 'approval' } }
const ended: CallItem = {
  ...open,
  type: 'call',
  id: 'ended',
  result: { isError: false, parts: [{ type: 'text', text: 'deleted' }] },
  resultOnly: true,
}

/** A runner in a new process, and what its stream tells of calls. */
function process(store: Store, at: number, model: ScriptedModel) {
  const told: TurnToolCallContent[] = []
  const tools = [
    sampleTool('pay', () => 'paid', { effect: 'write', approval: true }),
    sampleTool('wire', () => 'sent', { effect: 'write' }),
    sampleTool('look', () => 'seen'),
  ]
  const testing = { clock: testClock(at) }
  const runner = new TurnRunner({ store, tools, model, testing, policy: 'open' })
  runner.on('toolCall', (content) => told.push(content))
  return { runner, told }
}

const answers = () => scriptedModel([[{ text: 'so' }]])

/** A turn that waits, with a store on a clock of its own. */
async function waiting(step: Parameters<typeof scriptedModel>[0][0]) {
  const store = memoryStore({ clock: testClock(Date.UTC(2000, 0, 1)) })
  const { runner, told } = process(store, ASKED_AT, scriptedModel([step]))
  const { gates } = await runner.run({ conversation: 'c', message: 'go' })
  const answer = { gate: gates[0]?.id ?? '', decidedBy: 'ann' }
  return { store, told, answer }
}

describe('the time of an announcement', () => {
  const pay = [{ call: 'pay', args: { q: 'bob' }, id: 'c1' }]
  type Next = (
    runner: TurnRunner,
    answer: { gate: string; decidedBy: string },
  ) => Promise<TurnOutcome>
  const approves: Next = (runner, answer) =>
    runner.resume({ conversation: 'c', decisions: [{ ...answer, approve: true }] })
  const denies: Next = (runner, answer) =>
    runner.resume({ conversation: 'c', decisions: [{ ...answer, approve: false }] })
  const edits: Next = (runner, answer) =>
    runner.resume({
      conversation: 'c',
      decisions: [{ ...answer, approve: true, args: { q: 'eve' } }],
    })
  const goesOn: Next = (runner) => runner.run({ conversation: 'c', message: 'never mind' })

  it.each([
    ['approved', pay, approves],
    ['denied', pay, denies],
    ['edited', pay, edits],
    ['given up', pay, goesOn],
    ['denied to its provider', [{ item: gated }], denies],
  ])('stays the same in record and stream when the call is %s', async (_, step, next) => {
    const { store, answer } = await waiting(step)
    const { runner, told } = process(store, LATER, answers())
    const { toolCalls } = await next(runner, answer)
    expect(toolCalls.length).toBeGreaterThan(0)
    expect(toolCalls.map(({ createdAt }) => createdAt.toMillis())).toEqual(
      toolCalls.map(() => ASKED_AT),
    )
    expect(new Set(told.map(({ createdAt }) => createdAt.toMillis()))).toEqual(new Set([ASKED_AT]))
  })

  it.each(['wire', 'look'])('stays the same when the process dies in `%s`', async (tool) => {
    const store = memoryStore({ clock: testClock(Date.UTC(2000, 0, 1)) })
    const isAsked = ({ kind }: { kind: string }) => kind === 'history-item'
    const { mortal, died } = diesBehind(store, isAsked)
    const first = process(mortal, ASKED_AT, scriptedModel([[{ call: tool, id: 'c1' }]]))
    void first.runner.run({ conversation: 'c', message: 'go' })
    await died
    const { runner } = process(store, LATER, answers())
    const { toolCalls } = await runner.recover({ conversation: 'c', force: true })
    expect(toolCalls.map(({ createdAt }) => createdAt.toMillis())).toEqual([ASKED_AT])
  })
})

describe("the announcement of a provider's call", () => {
  const states = (told: readonly TurnToolCallContent[]) =>
    told.map(({ id, isComplete }) => [id, isComplete])

  it('comes when the provider asks for approval, and its end when it is declined', async () => {
    const { store, told, answer } = await waiting([{ item: gated }])
    expect(states(told)).toEqual([['ask_1', false]])
    const next = process(store, LATER, answers())
    const decisions = [{ ...answer, approve: false }]
    await next.runner.resume({ conversation: 'c', decisions })
    expect(states(next.told)).toEqual([['ask_1', true]])
  })

  it('comes when the provider starts it, and its end with the result in a later response', async () => {
    let before: unknown
    const check = () => (before = states(told))
    const model = scriptedModel([
      { finish: 'pause', parts: [{ item: open }] },
      { check, parts: [{ item: ended }, { text: 'so' }] },
    ])
    const { runner, told } = process(memoryStore(), ASKED_AT, model)
    const { toolCalls } = await runner.run({ conversation: 'c', message: 'go' })
    expect(before).toEqual([['ask_1', false]])
    expect(states(told)).toEqual([
      ['ask_1', false],
      ['ask_1', true],
    ])
    expect(toolCalls).toHaveLength(1)
  })
})

describe('a gate', () => {
  it.each([
    ['of the runner', [{ call: 'pay', id: 'ask_1' }]],
    ['of a provider', [{ item: gated }]],
  ])('%s is told after the announcement of its call', async (_, step) => {
    const { runner } = process(memoryStore(), ASKED_AT, scriptedModel([step]))
    const order: string[] = []
    runner.on('toolCall', ({ id }) => order.push(`call ${id}`))
    runner.observe('gateOpened', ({ toolCallId }) => order.push(`gate ${toolCallId}`))
    await runner.run({ conversation: 'c', message: 'go' })
    expect(order).toEqual(['call ask_1', 'gate ask_1'])
  })

  it('of a sub-agent is told after the announcement of the call around it', async () => {
    const agent = {
      tools: [sampleTool('pay', () => 'paid', { effect: 'write', approval: true })],
      model: scriptedModel([[{ call: 'pay', id: 'p1' }]]),
    }
    const tools = [subAgent({ name: 'helper', description: 'Helps.', agent })]
    const model = scriptedModel([[{ call: 'helper', id: 'h1', args: { task: 'x' } }]])
    const runner = new TurnRunner({ tools, model })
    const order: string[] = []
    runner.on('toolCall', ({ id }) => order.push(`call ${id}`))
    runner.observe('gateOpened', ({ toolCallId }) => order.push(`gate ${toolCallId}`))
    await runner.run({ conversation: 'c', message: 'go' })
    expect(order.filter((each) => each.endsWith('h1'))).toEqual(['call h1', 'gate h1'])
  })
})
