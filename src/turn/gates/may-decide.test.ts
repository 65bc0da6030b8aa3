import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { ToolContext } from '../../tools/tool-context.ts'
import { subAgent } from '../nested/sub-agent.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { GateAnswer } from './gate-answer.ts'
import type { MayDecide } from './may-decide.ts'

/** Two payments that wait, in a conversation of a user, and a runner with a rule. */
async function waiting(mayDecide: MayDecide) {
  const ran: (string | undefined)[] = []
  const store = memoryStore()
  const pay = sampleTool('pay', ({ q }) => String(ran.push(q)), { approval: true })
  const calls = ['a', 'b'].map((q) => ({ tool: 'pay', args: { q } }))
  const runner = new TurnRunner({
    store,
    tools: [pay],
    mayDecide,
    executor: async ({ turnToolCalls }) =>
      turnToolCalls.length === 0 ? { calls } : { answer: 'Done.' },
  })
  const input = { conversation: 'c', message: 'Pay both.', context: { user: 'uma' } }
  const { gates } = await runner.run(input)
  const answers = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
  const resume = (decisions: readonly unknown[] = answers) =>
    runner.resume({ conversation: 'c', decisions: decisions as GateAnswer[] })
  const states = async () => (await store.openGates('c')).map(({ state }) => state)
  return { ran, answers, gates, resume, states }
}

describe('mayDecide', () => {
  it.each<[string, MayDecide, object]>([
    ['says no', () => false, { data: { gate: expect.any(String) as string } }],
    ['gives a reason', () => 'Only owners.', { data: { reason: 'Only owners.' } }],
    ['says no later', async () => 'Too late.', { data: { reason: 'Too late.' } }],
    ['gives what is neither', () => 1 as never, {}],
    ['gives nothing', () => undefined as never, {}],
    [
      'throws',
      () => {
        throw new Error('No rights were found.')
      },
      { cause: new Error('No rights were found.') },
    ],
  ])('refuses the decision when the rule %s, and the gate stays open', async (_, rule, error) => {
    const { ran, resume, states } = await waiting(rule)
    await expect(resume()).rejects.toMatchObject({ code: 'E_DECISION_NOT_ALLOWED', ...error })
    expect([await states(), ran]).toEqual([['pending', 'pending'], []])
  })

  it('is refused where nobody would ask it: on a sub-agent', () => {
    const agent = { executor: async () => ({ answer: '' }), mayDecide: () => false }
    expect(() => subAgent({ name: 'a', description: 'Works.', agent })).toThrow('agent.mayDecide')
  })

  it('is asked about every decision before one counts, refusals included', async () => {
    const asked: unknown[] = []
    const { ran, answers, gates, resume, states } = await waiting((gate, decision, ctx) => {
      asked.push([gate, decision, ctx])
      return 'approve' in decision && decision.approve
    })
    const [first, second] = answers
    const no = { ...second, approve: false, reason: 'Twice.' }
    await expect(resume([first, no])).rejects.toMatchObject({ code: 'E_DECISION_NOT_ALLOWED' })
    const ctx = { context: { user: 'uma' } }
    expect(asked).toEqual([
      [gates[0], first, ctx],
      [gates[1], no, ctx],
    ])
    expect([await states(), ran]).toEqual([['pending', 'pending'], []])
    expect((await resume()).text).toBe('Done.')
    expect(ran).toEqual(['a', 'b'])
  })

  it('sees the arguments that will run, however the answer hides them', async () => {
    const seen: unknown[] = []
    const { ran, answers, resume } = await waiting((_, decision) => {
      seen.push('args' in decision ? decision.args : undefined)
      return true
    })
    let reads = 0
    const shifty = Object.defineProperty({ ...answers[0] }, 'args', {
      enumerable: true,
      get: () => ({ q: `read ${++reads}` }),
    })
    await resume([shifty, answers[1]])
    expect([seen[0], ran[0]]).toEqual([{ q: 'read 1' }, 'read 1'])
  })

  it('knows the context in turns that continue another, and two agents deep', async () => {
    const seen: unknown[] = []
    const ran: unknown[] = []
    const asks = (tool: string) => async (ctx: { turnToolCalls: readonly unknown[] }) =>
      ctx.turnToolCalls.length === 0
        ? { calls: [{ tool, args: { task: 'Pay.' } }] }
        : { answer: 'Done.' }
    const twice = sampleTool(
      'pay',
      (_: unknown, ctx: ToolContext) => {
        ran.push(ctx.context)
        return 'Paid.'
      },
      { approval: true },
    )
    const inner = subAgent({
      name: 'inner',
      description: 'Pays.',
      agent: {
        tools: [twice],
        executor: async ({ turnToolCalls: { length } }) =>
          length < 2 ? { calls: [{ tool: 'pay', args: { q: `${length}` } }] } : { answer: 'Done.' },
      },
    })
    const middle = subAgent({
      name: 'middle',
      description: 'Lets pay.',
      agent: { tools: [inner], executor: asks('inner') },
    })
    const store = memoryStore()
    const runner = new TurnRunner({
      store,
      tools: [middle],
      executor: asks('middle'),
      mayDecide: (_, __, { context }) => seen.push(context) > 0,
    })
    const begun = await runner.run({ conversation: 'c', message: 'Pay.', context: 'uma' })
    const [first] = begun.gates
    const answer = { approve: true, decidedBy: 'ann' }
    const again = await runner.resume({
      conversation: 'c',
      decisions: [{ gate: first?.id ?? '', ...answer }],
    })
    // The second one is answered where it was asked: in the conversation of the inner agent.
    const [second] = (await store.conversations()).filter(({ id }) => id.split('/').length === 3)
    const [open] = await store.openGates(second?.id)
    const last = await runner.resume({
      conversation: open?.conversation ?? '',
      decisions: [{ gate: open?.id ?? '', ...answer }],
    })
    expect([again.status, last.text]).toEqual(['suspended', 'Done.'])
    expect([seen, ran]).toEqual([
      ['uma', 'uma'],
      ['uma', 'uma'],
    ])
  })
})
