import { describe, expect, it } from 'vitest'
import { diesBehind } from '../../../test/mortal-store.ts'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { NewEntry } from '../../store/entry.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { Middleware } from '../call/middleware.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

const ask = { call: 'research', args: { task: 'find out' }, id: 'r1' }

const pay = (id: string) => ({ call: 'pay', args: { q: id }, id })
const pays = () => scriptedModel([[pay('p1')], [{ text: 'found' }]])

/** Makes turns around one whose only tool may need leave. */
function agents(agent: Partial<TurnRunnerOptions> = {}, needsLeave = false) {
  const tool = sampleTool('pay', () => 'paid', { effect: 'idempotent', approval: needsLeave })
  const inside = { model: pays(), ...agent, tools: [tool] } as TurnRunnerOptions
  const research = subAgent({ name: 'research', description: 'Finds things out.', agent: inside })
  return (store: Store, script: Script = [], middleware: readonly Middleware[] = []) =>
    new TurnRunner({ model: scriptedModel(script), tools: [research], store, middleware })
}

type Script = Parameters<typeof scriptedModel>[0]

/** A layer for which a call has ended whatever the turn inside it waits for. */
const neverMind: Middleware = {
  async call(subject, next) {
    await next()
    return subject.record({ settlement: 'ok', results: new Tokenizable('never mind') })
  },
}

const isRecord = ({ kind }: NewEntry, id: string) => kind === 'settlement' && id === 'k'
const isMessageInside = ({ kind }: NewEntry, id: string) => kind === 'message' && id === 'k/r1'

/** What is asked of an inner conversation, or of any. */
const isAboutInside = (about: unknown) => /k\/r1|after/.test(JSON.stringify(about))

/** Ends the lease of a process that died. */
async function free(store: Store) {
  const { epoch } = await store.acquire('k', { owner: 'test', force: true })
  await store.release('k', epoch)
}

const endsOf = async (store: Store, conversation: string) =>
  (await store.find({ conversation, kind: 'turn-end' })).entries.map(({ entry }) =>
    entry.kind === 'turn-end' ? entry.data.status : '',
  )

describe('abandonOrphans', () => {
  it('leaves alone what came to wait in the same recovery', async () => {
    const store = memoryStore()
    const runner = agents({}, true)
    const { mortal, died } = diesBehind(store, ({ kind }, id) => kind === 'intent' && id === 'k')
    void runner(mortal, [[ask]]).run({ message: 'go', conversation: 'k' })
    await died
    const outcome = await runner(store).recover({ conversation: 'k', force: true })
    expect(outcome).toMatchObject({ status: 'suspended', gates: [{ toolCallId: 'r1' }] })
    expect(await store.openGates('k/r1')).toMatchObject([{ state: 'pending' }])
    const decisions = [{ gate: outcome.gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    const next = runner(store, [[{ text: 'so' }]])
    expect(await next.resume({ conversation: 'k', decisions })).toMatchObject({
      status: 'completed',
      toolCalls: [{ id: 'r1', settlement: 'ok' }],
    })
  })

  it('leaves alone what came to its end in a second attempt', async () => {
    const store = memoryStore()
    const runner = agents()
    const { mortal, died } = diesBehind(store, isMessageInside)
    void runner(mortal, [[ask]]).run({ message: 'go', conversation: 'k' })
    await died
    const again = runner(store, [[{ text: 'so' }]])
    expect((await again.recover({ conversation: 'k', force: true })).status).toBe('completed')
    await again.recover({ conversation: 'k' })
    expect(await endsOf(store, 'k/r1')).toEqual(['completed'])
  })

  it('ends what was left once', async () => {
    const store = memoryStore()
    const runner = agents()
    const { mortal, died } = diesBehind(store, isMessageInside)
    void runner(mortal, [[ask]]).run({ message: 'go', conversation: 'k' })
    await died
    await free(store)
    await runner(store, [[{ text: 'so' }]]).run({ message: 'and?', conversation: 'k' })
    for (let i = 0; i < 2; i++) await runner(store).recover({ conversation: 'k' })
    expect(await endsOf(store, 'k/r1')).toEqual(['stopped'])
  })

  it('ends what was left in a turn that was resumed and said nothing yet', async () => {
    const store = memoryStore()
    const runner = agents({ model: scriptedModel([[pay('p1')], [pay('p2')]]) }, true)
    const { gates } = await runner(store, [[ask]]).run({ message: 'go', conversation: 'k' })
    const { mortal, died } = diesBehind(store, isRecord)
    const decisions = [{ gate: gates[0]?.id ?? '', approve: true, decidedBy: 'ann' }]
    void runner(mortal, [], [neverMind]).resume({ conversation: 'k', decisions })
    await died
    expect(await store.openGates()).toMatchObject([{ conversation: 'k/r1', state: 'pending' }])
    await free(store)
    await runner(store, [[{ text: 'so' }]]).run({ message: 'and?', conversation: 'k' })
    expect(await store.openGates()).toEqual([])
  })

  it('ends what was left in a store of its own', async () => {
    const [store, inside] = [memoryStore(), memoryStore()]
    const runner = agents({ store: inside }, true)
    const { mortal, died } = diesBehind(store, isRecord)
    void runner(mortal, [[ask]], [neverMind]).run({ message: 'go', conversation: 'k' })
    await died
    expect(await inside.openGates()).toMatchObject([{ conversation: 'k/r1', state: 'pending' }])
    const next = runner(store, [[{ text: 'so' }]])
    await next.recover({ conversation: 'k', force: true })
    expect(await inside.openGates()).toEqual([])
  })

  it.each(['conversations', 'find', 'conversation', 'entries'] as const)(
    'fails as the store does when `%s` fails in words of its own',
    async (member) => {
      const store = memoryStore()
      const runner = agents()
      const { mortal, died } = diesBehind(store, isMessageInside)
      void runner(mortal, [[ask]]).run({ message: 'go', conversation: 'k' })
      await died
      await free(store)
      const failing = new Proxy(store, {
        get(target, name) {
          const answer = Reflect.get(target, name)
          if (name !== member) return answer
          return (about: unknown, ...rest: unknown[]) => {
            if (isAboutInside(about)) throw new Error('out of reach')
            return answer(about, ...rest)
          }
        },
      })
      const outcome = await runner(failing).run({ message: 'and?', conversation: 'k' })
      expect(outcome).toMatchObject({
        status: 'failed',
        reason: { code: 'STORE_FAILED', message: 'out of reach' },
      })
    },
  )
})
