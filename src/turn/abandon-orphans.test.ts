import { describe, expect, it } from 'vitest'
import { diesBehind } from '../../test/mortal-store.ts'
import { sampleTool } from '../../test/turn-samples.ts'
import type { NewEntry } from '../store/entry.ts'
import { memoryStore } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { subAgent } from './sub-agent.ts'
import { TurnRunner } from './turn-runner.ts'

const ask = { call: 'research', args: { task: 'find out' }, id: 'r1' }

/** A turn around one whose only tool may need leave. */
function agents(store: Store, needsLeave = false) {
  const pay = sampleTool('pay', () => 'paid', { effect: 'idempotent', approval: needsLeave })
  const model = scriptedModel([[{ call: 'pay', id: 'p1' }], [{ text: 'found' }]])
  const research = () =>
    subAgent({ name: 'research', description: 'Finds.', agent: { model, tools: [pay] } })
  return (outer: Store, ...script: Parameters<typeof scriptedModel>[0]) =>
    new TurnRunner({ model: scriptedModel(script), tools: [research()], store: outer ?? store })
}

const endsOf = async (store: Store, conversation: string) =>
  (await store.find({ conversation, kind: 'turn-end' })).entries.map(({ entry }) =>
    entry.kind === 'turn-end' ? entry.data.status : '',
  )

describe('abandonOrphans', () => {
  it('leaves alone what came to wait in the same recovery', async () => {
    const store = memoryStore()
    const runner = agents(store, true)
    const { mortal, died } = diesBehind(store, ({ kind }, id) => kind === 'intent' && id === 'k')
    void runner(mortal, [ask]).run({ message: 'go', conversation: 'k' })
    await died
    const outcome = await runner(store).recover({ conversation: 'k', force: true })
    expect(outcome).toMatchObject({ status: 'suspended', gates: [{ callId: 'r1' }] })
    expect(await store.openGates('k/r1')).toMatchObject([{ state: 'pending' }])
    const decisions = [{ gate: outcome.gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    const next = runner(store, [{ text: 'so' }])
    expect(await next.resume({ conversation: 'k', decisions })).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'r1', settlement: 'ok' }],
    })
  })

  it('leaves alone what came to its end in a second attempt', async () => {
    const store = memoryStore()
    const runner = agents(store)
    const isMessage = ({ kind }: NewEntry, id: string) => kind === 'message' && id === 'k/r1'
    const { mortal, died } = diesBehind(store, isMessage)
    void runner(mortal, [ask]).run({ message: 'go', conversation: 'k' })
    await died
    const again = runner(store, [{ text: 'so' }])
    expect((await again.recover({ conversation: 'k', force: true })).status).toBe('completed')
    await again.recover({ conversation: 'k' })
    expect(await endsOf(store, 'k/r1')).toEqual(['completed'])
  })

  it('ends what was left once', async () => {
    const store = memoryStore()
    const runner = agents(store)
    const isMessage = ({ kind }: NewEntry, id: string) => kind === 'message' && id === 'k/r1'
    const { mortal, died } = diesBehind(store, isMessage)
    void runner(mortal, [ask]).run({ message: 'go', conversation: 'k' })
    await died
    const { epoch } = await store.acquire('k', { owner: 'test', force: true })
    await store.release('k', epoch)
    await runner(store, [{ text: 'so' }]).run({ message: 'and?', conversation: 'k' })
    for (let i = 0; i < 2; i++) await runner(store).recover({ conversation: 'k' })
    expect(await endsOf(store, 'k/r1')).toEqual(['stopped'])
  })
})
