import { describe, expect, it } from 'vitest'
import { diesBehind } from '../../../test/mortal-store.ts'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { type ScriptedModel, scriptedModel } from '../../testing/scripted-model.ts'
import type { TurnOutcome } from '../limits/outcome.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

const ask = { call: 'research', args: { task: 'find out' }, id: 'r1' }
const wire = { call: 'wire', args: { q: 'x' }, id: 'w1' }
const pay = { call: 'pay', args: { q: 'x' }, id: 'p1' }
const answers = () => scriptedModel([[{ text: 'so' }]])
const asks = () => scriptedModel([[ask]])

/** A turn around one that wires money, which never reports. */
function runner(store: Store, model: ScriptedModel, inner: ScriptedModel) {
  const never = () => byHand<string>().promise
  const tools = [
    sampleTool('wire', never, { effect: 'write', timeoutMs: 20 }),
    sampleTool('pay', () => 'paid', { effect: 'write', approval: true }),
  ]
  const agent = { model: inner, tools }
  const research = subAgent({ name: 'research', description: 'Finds things out.', agent })
  return new TurnRunner({ model, tools: [research], store })
}

/** What the model reads of the only call. */
const textOf = ({ toolCalls }: TurnOutcome) => JSON.stringify(toolCalls)

describe('a call in doubt inside a turn inside a call', () => {
  it('is told of when the second attempt cannot even begin', async () => {
    const store = memoryStore()
    const isBegun = ({ kind }: { kind: string }, id: string) => kind === 'intent' && id === 'k/r1'
    const { mortal, died } = diesBehind(store, isBegun)
    void runner(mortal, asks(), scriptedModel([[wire]])).run({ message: 'go', conversation: 'k' })
    await died
    const refusals = [new Error('out of reach')]
    const acquire: Store['acquire'] = async (id, options) => {
      const refusal = id === 'k/r1' ? refusals.pop() : undefined
      if (refusal !== undefined) throw refusal
      return store.acquire(id, options)
    }
    const next = runner({ ...store, acquire }, answers(), scriptedModel([]))
    const outcome = await next.recover({ conversation: 'k', force: true })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'in-doubt' }] })
    expect(textOf(outcome)).toContain('Do not repeat it blindly')
    const inside = await store.get('k/r1', 'settlement', 'w1')
    expect(inside?.data['settlement']).toBe('in-doubt')
  })

  it('is told of when a second attempt fails that had no part in it', async () => {
    const store = memoryStore()
    const inner = scriptedModel([[wire, pay]])
    const { gates } = await runner(store, asks(), inner).run({ message: 'go', conversation: 'k' })
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    const next = runner(store, answers(), scriptedModel([]))
    const outcome = await next.resume({ conversation: 'k', decisions })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'in-doubt' }] })
    expect(textOf(outcome)).toContain('Do not repeat it blindly')
  })

  it.each([
    ['nobody decided', undefined, 'Abandoned: the approvals that this call waited for were not '],
    [
      'somebody had decided',
      'ann',
      'Abandoned: the conversation continued before this call had a ',
    ],
  ])('is told of when the conversation goes on and %s', async (_, decidedBy, text) => {
    const store = memoryStore()
    const inner = scriptedModel([[wire, pay]])
    const { gates } = await runner(store, asks(), inner).run({ message: 'go', conversation: 'k' })
    if (decidedBy !== undefined) {
      await store.decideGate('k', gates[0]?.id ?? '', { verdict: 'approved', decidedBy })
    }
    const next = runner(store, answers(), scriptedModel([]))
    const outcome = await next.run({ message: 'and?', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'in-doubt' }] })
    expect(textOf(outcome)).toContain(text)
    expect(textOf(outcome)).toContain('Do not repeat it blindly')
  })
})
