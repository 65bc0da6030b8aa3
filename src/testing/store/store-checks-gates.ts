import assert from 'node:assert/strict'
import type { Gate, GateVerdict, NewGateDecision } from '../../store/gate.ts'
import { allEntries, rejectsWith, type StoreCheck, type StoreCheckContext } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const HOUR = 60 * 60 * 1000

async function opened({ store }: StoreCheckContext): Promise<number> {
  const { epoch } = await store.acquire('c', { owner: 'test', leaseMs: 1000 * HOUR })
  await store.append('c', epoch, [sample.gateOpened('t', 'g')])
  return epoch
}

const approval = { verdict: 'approved', decidedBy: 'ada' } as const

/** Decisions: once, in time, about what was asked; the first one wins. */
export const storeGateChecks: readonly StoreCheck[] = [
  {
    name: 'opens a gate with the entry that asks for it',
    async run(context) {
      const { store, clock } = context
      await opened(context)
      const gate = await store.gate('c', 'g')
      assert.deepEqual(gate, {
        id: 'g',
        kind: 'approval',
        from: 'runner',
        why: 'This call waits for a decision: approve or deny it.',
        tool: 'add',
        args: { n: 1 },
        digest: 'd'.repeat(64),
        conversation: 'c',
        turnId: 't',
        openedAt: clock.now(),
        expiresAt: clock.now() + 24 * HOUR,
        state: 'pending',
      })
      assert.deepEqual(await store.openGates(), [gate])
      assert.deepEqual(await store.openGates('c'), [gate])
      assert.deepEqual(await store.openGates('other'), [])
      assert.equal(await store.gate('c', 'absent'), undefined)
    },
  },
  {
    name: 'lists open gates in the order in which they were opened',
    async run({ store }) {
      const open = async (conversation: string, epoch: number, ids: readonly string[]) =>
        store.append(
          conversation,
          epoch,
          ids.map((id) => sample.gateOpened('t', id)),
        )
      const late = await store.acquire('z', { owner: 'test' })
      const early = await store.acquire('a', { owner: 'test' })
      await open('z', late.epoch, ['m', 'b'])
      await open('a', early.epoch, ['z', 'y', 'nul\0'])
      await open('z', late.epoch, ['a'])
      await store.decideGate('z', 'm', approval)
      await store.append('a', early.epoch, [sample.gateClosed('t', 'y', 'abandoned')])
      const ids = async (conversation?: string) =>
        (await store.openGates(conversation)).map(({ id }) => id)
      assert.deepEqual(await ids('z'), ['m', 'b', 'a'])
      assert.deepEqual(await ids('a'), ['z', 'nul\0'])
      assert.deepEqual(await ids(), ['m', 'b', 'z', 'nul\0', 'a'])
    },
  },
  {
    name: 'lists open gates page by page, also after one that was closed meanwhile',
    async run({ store }) {
      const { epoch } = await store.acquire('z', { owner: 'test' })
      const other = await store.acquire('a', { owner: 'test' })
      const open = (id: string) => sample.gateOpened('t', id)
      await store.append('z', epoch, [open('m'), open('b'), open('nul\0')])
      await store.append('a', other.epoch, [open('b')])
      await store.append('z', epoch, [open('a')])
      const ids = (gates: readonly Gate[]) => gates.map(({ conversation, id }) => conversation + id)
      const first = await store.openGates(undefined, { limit: 2 })
      assert.deepEqual(ids(first), ['zm', 'zb'])
      const last = first.at(-1) as Gate
      await store.append('z', epoch, [sample.gateClosed('t', 'b', 'abandoned')])
      const second = await store.openGates(undefined, { after: last, limit: 2 })
      assert.deepEqual(ids(second), ['znul\0', 'ab'])
      const third = await store.openGates(undefined, { after: second.at(-1) as Gate, limit: 2 })
      assert.deepEqual(ids(third), ['za'])
      assert.deepEqual(ids(await store.openGates('z', { limit: 1 })), ['zm'])
      assert.deepEqual(ids(await store.openGates('z', { after: 'b' })), ['znul\0', 'za'])
      assert.deepEqual(ids(await store.openGates('z', { after: 'nul\0', limit: 1 })), ['za'])
      assert.deepEqual(ids(await store.openGates('a', { after: last })), ['ab'])
      await rejectsWith('E_NOT_FOUND', store.openGates('z', { after: 'none' }))
      await rejectsWith('E_INVALID_STORE_INPUT', store.openGates(undefined, { after: 'b' }))
      await rejectsWith('E_INVALID_STORE_INPUT', store.openGates('z', { limit: 0 }))
    },
  },
  {
    name: 'takes one decision, from any handle, and lets it be used once',
    async run(context) {
      const { store, clock, again } = context
      const epoch = await opened(context)
      const other = (await again?.()) ?? store
      const decided = await other.decideGate('c', 'g', { ...approval, comment: 'fine' })
      const decision = { ...approval, decidedAt: clock.now(), comment: 'fine' }
      assert.deepEqual([decided.state, decided.decision], ['approved', decision])
      assert.deepEqual(await store.gate('c', 'g'), decided)
      await rejectsWith(
        'E_GATE_STATE',
        store.decideGate('c', 'g', { ...approval, verdict: 'denied' }),
      )
      await store.append('c', epoch, [sample.gateClosed('t', 'g', 'consumed')])
      const closing = await store.get('c', 'gate-closed', 'g')
      assert.deepEqual(closing?.data, { id: 'g', outcome: 'consumed', decision })
      assert.equal((await store.gate('c', 'g'))?.state, 'consumed')
      assert.deepEqual(await store.openGates(), [])
      const twice = store.append('c', epoch, [sample.gateClosed('t', 'g', 'consumed')])
      await rejectsWith('E_GATE_STATE', twice)
      await rejectsWith('E_GATE_STATE', store.decideGate('c', 'g', approval))
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
    },
  },
  {
    name: 'decides a gate once when many decide it at once',
    async run(context) {
      const { store } = context
      await opened(context)
      const verdicts = ['approved', 'denied'] as const
      const all = Array.from({ length: 10 }, (_, i) =>
        store.decideGate('c', 'g', { verdict: verdicts[i % 2] as GateVerdict, decidedBy: `p${i}` }),
      )
      const made = (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled')
      assert.equal(made.length, 1)
    },
  },
  {
    name: 'does not let an undecided gate be used, or an unknown one be closed',
    async run(context) {
      const { store } = context
      const epoch = await opened(context)
      const use = store.append('c', epoch, [sample.gateClosed('t', 'g', 'consumed')])
      await rejectsWith('E_GATE_STATE', use)
      const reopened = [sample.gateClosed('t', 'g', 'consumed'), sample.gateOpened('t', 'g')]
      await rejectsWith('E_GATE_STATE', store.append('c', epoch, reopened))
      const unknown = store.append('c', epoch, [sample.gateClosed('t', 'absent', 'abandoned')])
      await rejectsWith('E_NOT_FOUND', unknown)
      await rejectsWith('E_NOT_FOUND', store.decideGate('c', 'absent', approval))
      await rejectsWith(
        'E_DUPLICATE_ENTRY',
        store.append('c', epoch, [sample.gateOpened('t', 'g')]),
      )
      assert.equal((await allEntries(store, 'c')).length, 1)
      assert.equal((await store.gate('c', 'g'))?.state, 'pending')
    },
  },
  {
    name: 'lets a gate and its decision expire',
    async run(context) {
      const { store, clock } = context
      const epoch = await opened(context)
      await store.append('c', epoch, [sample.gateOpened('t', 'decided')])
      await store.decideGate('c', 'decided', approval)
      const early = store.append('c', epoch, [sample.gateClosed('t', 'g', 'expired')])
      await rejectsWith('E_GATE_STATE', early)
      clock.advance(24 * HOUR)
      assert.equal((await store.gate('c', 'g'))?.state, 'expired')
      assert.equal((await store.gate('c', 'decided'))?.state, 'expired')
      await rejectsWith('E_GATE_STATE', store.decideGate('c', 'g', approval))
      const late = store.append('c', epoch, [sample.gateClosed('t', 'decided', 'consumed')])
      await rejectsWith('E_GATE_STATE', late)
      await store.append('c', epoch, [
        sample.gateClosed('t', 'g', 'expired'),
        sample.gateClosed('t', 'decided', 'abandoned'),
      ])
      assert.deepEqual(await store.openGates(), [])
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
    },
  },
  {
    name: 'binds a decision to what was shown, and edits to a verdict of their own',
    async run(context) {
      const { store } = context
      await opened(context)
      const other = { ...approval, digest: 'e'.repeat(64) }
      await rejectsWith('E_GATE_STATE', store.decideGate('c', 'g', other))
      const invalid = [
        { ...approval, args: { n: 2 } },
        { ...approval, verdict: 'edited' },
        { ...approval, decidedBy: '' },
        { ...approval, verdict: 'maybe' },
      ] as readonly object[] as readonly NewGateDecision[]
      for (const decision of invalid) {
        await rejectsWith('E_INVALID_STORE_INPUT', store.decideGate('c', 'g', decision))
      }
      const edited = { verdict: 'edited', decidedBy: 'ada', args: { n: 2 }, digest: 'd'.repeat(64) }
      const gate = await store.decideGate(
        'c',
        'g',
        edited as { verdict: 'edited'; decidedBy: string },
      )
      assert.deepEqual([gate.state, gate.decision?.args], ['edited', { n: 2 }])
    },
  },
  {
    name: 'takes the gate of a turn inside a call and its copies for one',
    async run({ store }) {
      const places = ['k', 'k/r', 'k/r/s', 'k/other']
      const at = (name: string) => `gate of ${name}`
      for (const [index, conversation] of places.entries()) {
        const inside = index < 2 ? places[index + 1] : undefined
        const context = inside === undefined ? {} : { conversation: inside, gate: at(inside) }
        const { epoch } = await store.acquire(conversation, { owner: 'test' })
        const entry = sample.gateOpened('t', at(conversation), { context })
        await store.append(conversation, epoch, [entry])
      }
      const listed = async () => (await store.openGates()).map(({ conversation }) => conversation)
      assert.deepEqual((await listed()).toSorted(), ['k', 'k/other'])
      for (const limit of [1, 2]) {
        const [first] = await store.openGates(undefined, { limit })
        const more = await store.openGates(undefined, { after: first as Gate, limit })
        assert.deepEqual([first?.conversation, more[0]?.conversation], ['k', 'k/other'])
      }
      assert.equal((await store.openGates('k/r/s')).length, 1)
      const decided = await store.decideGate('k/r', at('k/r'), approval)
      assert.deepEqual([decided.conversation, decided.state], ['k/r', 'approved'])
      for (const conversation of places) {
        const gate = await store.gate(conversation, at(conversation))
        assert.equal(gate?.state, conversation === 'k/other' ? 'pending' : 'approved')
      }
      for (const conversation of ['k', 'k/r', 'k/r/s']) {
        const again = store.decideGate(conversation, at(conversation), approval)
        await rejectsWith('E_GATE_STATE', again)
      }
    },
  },
]
