import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { TurnRunner } from '../turn-runner.ts'
import type { GateAnswer } from './gate-answer.ts'

/** Two calls that wait, and how often either ran. */
async function waiting() {
  const ran: (string | undefined)[] = []
  const store = memoryStore()
  const pay = sampleTool('pay', ({ q }) => String(ran.push(q)), { approval: true })
  const calls = ['a', 'b'].map((q) => ({ tool: 'pay', args: { q } }))
  const runner = new TurnRunner({
    store,
    tools: [pay],
    executor: async ({ turnToolCalls }) =>
      turnToolCalls.length === 0 ? { calls } : { answer: 'Paid.' },
  })
  const { gates } = await runner.run({ conversation: 'c', message: 'Pay both.' })
  const [first, second] = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
  if (first === undefined || second === undefined) throw new Error('two gates were expected')
  const resume = (...decisions: readonly unknown[]) =>
    runner.resume({ conversation: 'c', decisions: decisions as GateAnswer[] })
  const states = async () => (await store.openGates('c')).map(({ state }) => state)
  return { runner, store, ran, first, second, resume, states }
}

describe('decisionsOf', () => {
  it.each([
    ['is not complete', { decidedBy: '' }, 'E_INVALID_DECISION'],
    ['is about other arguments', { digest: 'x' }, 'E_GATE_STATE'],
    ['names no gate of this conversation', { gate: 'none' }, 'E_NOT_FOUND'],
    ['edits arguments that do not fit', { args: { q: 5 } }, 'E_INVALID_DECISION'],
  ])(
    'decides nothing when a later answer %s, so that the list can be sent again',
    async (_, fault, code) => {
      const { ran, first, second, resume, states } = await waiting()
      await expect(resume(first, { ...second, ...fault })).rejects.toMatchObject({ code })
      expect([await states(), ran]).toEqual([['pending', 'pending'], []])
      expect((await resume(first, second)).text).toBe('Paid.')
      expect(ran).toEqual(['a', 'b'])
    },
  )

  it.each(['approve', 'gate', 'decidedBy', 'args'])(
    'reads own members only: an inherited `%s` decides nothing',
    async (name) => {
      const { ran, first, resume, states } = await waiting()
      const whole: Record<string, unknown> = { ...first, args: { q: 'x' } }
      const { [name]: inherited, ...own } = whole
      const answer = Object.assign(Object.create({ [name]: inherited }), own) as object
      if (name === 'args') expect((await resume(answer)).status).toBe('suspended')
      else await expect(resume(answer)).rejects.toMatchObject({ code: 'E_INVALID_DECISION' })
      expect([await states(), ran]).toEqual(
        name === 'args' ? [['pending'], ['a']] : [['pending', 'pending'], []],
      )
    },
  )

  it('tells observers where a decision belongs, whatever one of them does to it', async () => {
    const { runner, first, second, resume } = await waiting()
    const heard: string[] = []
    runner.observe('gateDecided', (_, origin) => {
      ;(origin as { conversation: string }).conversation = 'forged'
    })
    runner.observe('gateDecided', (_, { conversation }) => heard.push(conversation))
    await resume(first, second)
    expect(heard).toEqual(['c', 'c'])
  })

  it('refuses two answers to one gate', async () => {
    const { ran, first, second, resume, states } = await waiting()
    await expect(resume(first, second, { ...first, approve: false })).rejects.toThrow(
      /the list answers it twice\. Nothing was decided/,
    )
    expect([await states(), ran]).toEqual([['pending', 'pending'], []])
  })

  it.each([undefined, null, { approve: true }])(
    'refuses decisions that are no list: %j',
    async (given) => {
      const { runner } = await waiting()
      const input = { conversation: 'c', decisions: given as never }
      await expect(runner.resume(input)).rejects.toMatchObject({ code: 'E_INVALID_TURN_INPUT' })
    },
  )

  it('says how to go on when somebody has decided before', async () => {
    const { store, ran, first, second, resume } = await waiting()
    const decision = { verdict: 'approved', decidedBy: 'bob' } as const
    for (const { gate } of [first, second]) await store.decideGate('c', gate, decision)
    await expect(resume(first, second)).rejects.toThrow(
      /is approved and cannot become approved: it is already decided\. Call `recover`, or `resume` without/,
    )
    expect((await resume()).text).toBe('Paid.')
    expect(ran).toEqual(['a', 'b'])
    await expect(resume(first)).rejects.toThrow(/its decision was used already/)
  })
})
