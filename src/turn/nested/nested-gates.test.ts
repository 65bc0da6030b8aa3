import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { OpenCallItem } from '../../records/history-item.ts'
import type { FeedEvent } from '../../store/feed/feed-event.ts'
import type { Gate } from '../../store/gate.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { Tool } from '../../tools/tool.ts'
import type { ExecutionContext } from '../../tools/tool-context.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import type { Executor } from '../executor/executor.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

/** A turn inside `research`, or inside a tool around it, that waits for somebody before it pays. */
function waiting(around?: Partial<ToolOptions>, own: { store?: Store; executor?: Executor } = {}) {
  const store = memoryStore()
  const paid: unknown[] = []
  const pay = sampleTool('pay', ({ q }) => String(paid.push(q)), {
    effect: 'write',
    approval: true,
  })
  const agent: TurnRunnerOptions = {
    tools: [pay],
    executor: async ({ turnToolCalls }) =>
      turnToolCalls.length > 0
        ? { answer: 'paid' }
        : { calls: [{ tool: 'pay', args: { q: 'bob' }, id: 'p1' }] },
    ...own,
  }
  const inner = subAgent({ name: 'research', description: 'Finds things out.', agent })
  const tool =
    around === undefined
      ? inner
      : new Tool({
          name: 'research',
          description: 'Finds things out.',
          inputSchema: { type: 'object', properties: { task: { type: 'string' } } },
          handler: async (args, ctx) =>
            (await inner.executor(ctx as ExecutionContext)(args)) as string,
          ...around,
        })
  const ask = { call: 'research', args: { task: 'find out' }, id: 'r1' }
  const runner = (isFirst: boolean, options: Partial<TurnRunnerOptions> = {}) =>
    new TurnRunner({
      tools: [tool],
      store,
      ...(options as object),
      model: scriptedModel(isFirst ? [[ask]] : [[{ text: 'done' }]]),
    })
  const begin = (options?: Partial<TurnRunnerOptions>) =>
    runner(true, options).run({ message: 'go', conversation: 'k' })
  const resume = (decisions: readonly object[], options?: Partial<TurnRunnerOptions>) =>
    runner(false, options).resume({ conversation: 'k', decisions: decisions as never })
  return { store, paid, begin, resume, runner }
}

/** The place of the original of a gate that a turn inside a call opened. */
const placeIn = (gate: Gate | undefined) => {
  const { conversation, gate: id } = gate?.context ?? {}
  return { conversation: conversation as string, id: id as string }
}

const yes = (gates: readonly Gate[], more: object = {}) =>
  gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann', ...more }))

describe('the gate of a turn inside a call', () => {
  it('is listed once, where the outermost turn waits', async () => {
    const { store, begin } = waiting()
    const { gates } = await begin()
    expect(await store.openGates()).toEqual(gates)
    expect(await store.openGates('k/r1')).toMatchObject([{ conversation: 'k/r1', tool: 'pay' }])
  })

  it.each([
    ['inner', true],
    ['outer', false],
  ])('is decided once and for both through the %s one', async (_, isInner) => {
    const { store, paid, begin, runner } = waiting()
    const { gates } = await begin()
    const inner = placeIn(gates[0])
    const outer = { conversation: 'k', id: gates[0]?.id ?? '' }
    const [asked, other] = isInner ? [inner, outer] : [outer, inner]
    const decision = { gate: asked.id, approve: true, decidedBy: 'ann' }
    const { conversation } = asked
    const handle = runner(false).resume({ conversation, decisions: [decision] })
    const events: FeedEvent[] = []
    for await (const event of handle) events.push(event)
    expect(events.find(({ type }) => type === 'turnEnd')).toMatchObject({ conversation: 'k' })
    expect(await handle).toMatchObject({
      conversation: 'k',
      status: 'completed',
      text: 'done',
      toolCalls: [{ id: 'r1', settlement: 'ok' }],
    })
    expect(paid).toEqual(['bob'])
    expect(await store.openGates()).toEqual([])
    for (const { conversation: at, id } of [inner, outer]) {
      expect(await store.gate(at, id)).toMatchObject({
        state: 'consumed',
        decision: { decidedBy: 'ann' },
      })
    }
    const again = { gate: other.id, approve: true, decidedBy: 'bea' }
    await expect(
      runner(false).resume({ conversation: other.conversation, decisions: [again] }),
    ).rejects.toMatchObject({ code: 'E_GATE_STATE' })
  })

  it('is denied through the inner one, and the outcome says so', async () => {
    const { paid, begin, runner } = waiting()
    const { gates } = await begin()
    const { conversation, id } = placeIn(gates[0])
    const decisions = [{ gate: id, approve: false, decidedBy: 'ann' }]
    expect(await runner(false).resume({ conversation, decisions })).toMatchObject({
      conversation: 'k',
      toolCalls: [{ id: 'r1' }],
    })
    expect(paid).toEqual([])
  })

  it('stays decided for a runner that cannot continue the turn around it', async () => {
    const { store, paid, begin, runner } = waiting()
    const { gates } = await begin()
    const { conversation, id } = placeIn(gates[0])
    const decisions = [{ gate: id, approve: true, decidedBy: 'ann' }]
    expect(await runner(false, { tools: [] }).resume({ conversation, decisions })).toMatchObject({
      conversation: 'k',
    })
    expect(paid).toEqual([])
    expect(await store.gate('k', gates[0]?.id ?? '')).toMatchObject({
      decision: { verdict: 'approved' },
    })
  })

  it('holds nobody up once it is decided where it really is', async () => {
    const { store, paid, begin, resume } = waiting()
    await begin()
    const [gate] = await store.openGates('k/r1')
    await store.decideGate('k/r1', gate?.id ?? '', { verdict: 'approved', decidedBy: 'ann' })
    expect(await resume([])).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'r1', settlement: 'ok' }],
    })
    expect(paid).toEqual(['bob'])
    expect(await store.openGates()).toEqual([])
  })

  it('waits on where nobody can look at it any more', async () => {
    const { begin, resume } = waiting(undefined, { store: memoryStore() })
    await begin()
    expect(await resume([], { tools: [] })).toMatchObject({
      status: 'suspended',
      gates: [{ toolCallId: 'r1', state: 'pending' }],
    })
  })

  it('is answered for a tool that only reads, too', async () => {
    const { paid, begin, resume, store } = waiting({ effect: 'read' })
    const { gates } = await begin()
    expect(await resume(yes(gates))).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'r1', settlement: 'ok' }],
    })
    expect(paid).toEqual(['bob'])
    expect(await store.openGates()).toEqual([])
    expect((await store.verify({ conversation: 'k' })).faults).toEqual([])
  })

  it('holds up the call that a person made of another', async () => {
    const { paid, begin, resume } = waiting({ effect: 'idempotent', approval: true })
    const asked = await begin()
    const edited = await resume(yes(asked.gates, { args: { task: 'find more' } }))
    expect(edited).toMatchObject({
      status: 'suspended',
      gates: [{ toolCallId: 'r1~2', tool: 'pay' }],
    })
    expect(await resume(yes(edited.gates))).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'r1~2', editOf: 'r1', settlement: 'ok' }],
    })
    expect(paid).toEqual(['bob'])
  })

  it('holds it up where it was changed in process, too', async () => {
    const item: OpenCallItem = {
      type: 'openCall',
      id: 'm1',
      tool: 'mail',
      args: {},
      wire: { provider: 'p', api: 'a', type: 'mcp', origin: 'natural', itemId: 'm1' },
      executedBy: 'provider',
      gate: { kind: 'approval' },
    }
    const executor: Executor = async () => ({ items: [item], calls: [] })
    const { begin } = waiting({ effect: 'idempotent', approval: true }, { executor })
    const approve = () => ({ approve: true, decidedBy: 'ann', args: { task: 'find more' } })
    expect(await begin({ approve })).toMatchObject({
      status: 'suspended',
      gates: [{ toolCallId: 'r1~2', tool: 'mail', kind: 'approval', from: 'provider' }],
    })
  })
})
