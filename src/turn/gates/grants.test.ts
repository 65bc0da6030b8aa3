import { describe, expect, it } from 'vitest'
import { bank, PAYMENT } from '../../../test/bank.ts'
import { checksum } from '../../core/checksum.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { GrantRequest } from '../../store/grant.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { Tool } from '../../tools/tool.ts'
import type { Executor } from '../executor/executor.ts'
import { OWN_WIRE } from '../log/fact.ts'
import { subAgent } from '../nested/sub-agent.ts'
import { TurnRunner } from '../turn-runner.ts'

/** An executor that calls one tool, then answers, then calls it again, and so on. */
function calling(tool: string, args: JsonObject): Executor {
  let isDue = false
  return async () => {
    isDue = !isDue
    return isDue ? { calls: [{ tool, args }] } : { answer: 'Done.' }
  }
}

describe('a standing approval', () => {
  it('lets the same call run again without asking, and its record says so', async () => {
    const { store, ran, ask, grant } = bank()
    const first = await grant({ for: 'conversation' })
    const [given] = await store.grants()
    expect(first.toolCalls[0]?.approvedBy).toEqual({ gate: given?.given.gate, decidedBy: 'ada' })
    expect([given?.used, given?.exact]).toEqual([0, true])
    const again = await ask('c', [{ sum: 1, to: 'ann' }])
    expect(again.toolCalls[0]?.approvedBy).toEqual({ grant: given?.id })
    expect([again.text, ran.length, (await store.grants())[0]?.used]).toEqual(['Done.', 2, 1])
    expect((await ask('c', [{ to: 'ann' }])).status).toBe('suspended')
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  })

  it('holds for a subject in all of its conversations', async () => {
    const subject = (context: unknown) => (context as { user: string }).user
    const { ask, grant } = bank({ subject })
    const context = { user: 'uma' }
    await grant({ for: 'subject', args: {} }, { to: 'x' }, { context })
    expect((await ask('d', [{ to: 'y' }], { user: 'uma', more: 1 })).status).toBe('completed')
    expect((await ask('e', [{ to: 'y' }], { user: 'ulf' })).status).toBe('suspended')
    expect((await ask('f', [{ to: 'y' }])).status).toBe('suspended')
  })

  it('gives its last use to one of two calls of a response; the other waits', async () => {
    const { store, ran, ask, grant } = bank()
    await grant({ for: 'conversation', args: {}, uses: 1 })
    const both = await ask('c', [{ to: 'a' }, { to: 'b' }])
    expect([both.status, ran.slice(1), both.gates.map(({ args }) => args)]).toEqual([
      'suspended',
      [{ to: 'a' }],
      [{ to: 'b' }],
    ])
    expect((await store.grants())[0]).toMatchObject({ used: 1, uses: 1 })
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  })

  it('given by `approve` in process, covers the next call of the same turn', async () => {
    const seen: unknown[] = []
    let calls = 0
    const { runner } = bank({
      approve: ({ args }) => {
        seen.push(args)
        return { approve: true, decidedBy: 'ada', grant: { for: 'conversation', args: {} } }
      },
      executor: async () =>
        ++calls <= 3 ? { calls: [{ tool: 'pay', args: { sum: calls } }] } : { answer: 'Done.' },
    })
    expect((await runner.run({ message: 'Pay.' })).text).toBe('Done.')
    expect(seen).toEqual([{ sum: 1 }])
  })

  it('covers the sub-agents of its conversation, two deep', async () => {
    const ran: unknown[] = []
    const pay = new Tool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: PAYMENT,
      approval: true,
      handler: (args) => String(ran.push(args)),
    })
    const task = { task: 'Pay.' }
    const inner = subAgent({
      name: 'inner',
      description: 'Pays.',
      agent: { tools: [pay], executor: calling('pay', { sum: 1 }) },
    })
    const middle = subAgent({
      name: 'middle',
      description: 'Lets pay.',
      agent: { tools: [inner], executor: calling('inner', task) },
    })
    const store = memoryStore()
    const runner = new TurnRunner({ store, tools: [middle], executor: calling('middle', task) })
    const { gates } = await runner.run({ conversation: 'c', message: 'Pay.' })
    const decision = { gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ada' }
    const grant = { for: 'conversation' } as const
    const first = await runner.resume({ conversation: 'c', decisions: [{ ...decision, grant }] })
    expect([first.text, ran.length]).toEqual(['Done.', 1])
    const again = await runner.run({ conversation: 'c', message: 'Again.' })
    expect([again.text, ran.length]).toEqual(['Done.', 2])
    expect(await store.grants({ conversation: 'c' })).toMatchObject([{ used: 1, tool: 'pay' }])
    const other = await runner.run({ conversation: 'd', message: 'Pay.' })
    expect([other.status, ran.length]).toEqual(['suspended', 2])
    for (const { id } of await store.conversations()) {
      expect((await store.verify({ conversation: id })).faults).toEqual([])
    }
  })

  it('of an agent with a store of its own, is kept once: in that store', async () => {
    const own = memoryStore()
    const ran: unknown[] = []
    const pay = new Tool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: PAYMENT,
      approval: true,
      handler: (args) => String(ran.push(args)),
    })
    const agent = subAgent({
      name: 'agent',
      description: 'Pays.',
      agent: {
        store: own,
        tools: [pay],
        executor: calling('pay', { sum: 1 }),
      },
    })
    const { runner, store } = bank({
      tools: [agent],
      executor: calling('agent', { task: 'Pay.' }),
    })
    const { gates } = await runner.run({ conversation: 'c', message: 'Pay.' })
    const grant = { for: 'conversation', uses: 1 } as const
    const decision = { gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ada', grant }
    await runner.resume({ conversation: 'c', decisions: [decision] })
    const again = await runner.run({ conversation: 'c', message: 'Again.' })
    expect([again.text, ran.length]).toEqual(['Done.', 2])
    expect([await store.grants(), await own.grants()]).toMatchObject([[], [{ used: 1 }]])
    expect((await runner.run({ conversation: 'c', message: 'Again.' })).status).toBe('suspended')
  })

  it('for writes after a stranger spoke needs `tainted: true`, also where the tool asks anyway', async () => {
    for (const approval of [true, false]) {
      const { store, ask, runner } = bank({}, { approval, effect: 'write', trust: 'third-party' })
      const { gates } = await ask('c', [{ to: 'ann' }])
      const answer = { gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ada' }
      if (gates.length > 0) {
        const grant = { for: 'conversation', args: {} } as const
        await runner.resume({ conversation: 'c', decisions: [{ ...answer, grant }] })
      }
      // The result of the first call was a stranger's: now taint gates the second.
      const second = await ask('c', [{ to: 'bob' }])
      expect(second.gates[0]?.because).toBe(approval ? 'tool' : 'trust')
      const gate = second.gates[0]?.id ?? ''
      const resume = (grant: GrantRequest) =>
        runner.resume({ conversation: 'c', decisions: [{ ...answer, gate, grant }] })
      await expect(resume({ for: 'conversation', args: {} })).rejects.toMatchObject({
        code: 'E_INVALID_DECISION',
        message: expect.stringMatching(/tainted: true/) as string,
      })
      expect((await resume({ for: 'conversation', args: {}, tainted: true })).text).toBe('Done.')
      const last = (await store.grants()).at(-1)
      const third = await ask('c', [{ to: 'cid' }])
      expect(third.toolCalls[0]?.approvedBy).toEqual({ grant: last?.id })
    }
  })

  it('is repeated after a crash only under the definition that was granted', async () => {
    for (const description of ['Pays.', 'Pays twice.']) {
      const store = memoryStore()
      const first = bank({ store }, { effect: 'idempotent' })
      await first.grant({ for: 'conversation' })
      const { epoch } = await store.acquire('c', { owner: 'dies', leaseMs: 1 })
      const [given] = await store.grants()
      const args = { to: 'ann', sum: 1 }
      const item = { type: 'call', id: 'x', tool: 'pay', args, wire: OWN_WIRE } as const
      const definition = given?.definition ?? ''
      const covered = { definition, tainted: false, conversations: ['c'] }
      const intent = {
        ...{ id: 'x', tool: 'pay', args, checksum: checksum('pay', args) },
        effect: 'idempotent',
        ...{ idempotencyKey: 'c/x', createdAt: new Date().toISOString() },
        ...{ approvedBy: { grant: given?.id ?? '' }, covered },
      } as const
      await store.append('c', epoch, [
        { kind: 'turn-start', turnId: 't', data: { input: 'run' } },
        { kind: 'history-item', turnId: 't', data: { ...item, executedBy: 'runner' } },
        { kind: 'intent', turnId: 't', data: intent },
      ])
      const second = bank({ store }, { effect: 'idempotent', description })
      const outcome = await second.runner.recover({ conversation: 'c', force: true })
      const { settlement, approvedBy } = outcome.toolCalls[0] ?? {}
      const isSame = description === 'Pays.'
      expect([settlement, second.ran.length]).toEqual(isSame ? ['ok', 1] : ['in-doubt', 0])
      expect(approvedBy).toEqual({ grant: given?.id })
      expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    }
  })
})
