import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { ForkOptions } from '../../store/branches.ts'
import type { NewEntry } from '../../store/entry.ts'
import type { Store } from '../../store/store.ts'
import { allEntries, collected, rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const EARLY = new TextEncoder().encode('early result')
const LATE = new TextEncoder().encode('late result')
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const inside = (turnId: string, outer: string): NewEntry => ({
  kind: 'turn-start',
  turnId,
  data: { parent: { conversation: outer, turnId: 't1' } },
})

const settled = (turnId: string, id: string, bytes: Uint8Array) =>
  sample.settlement(turnId, id, { results: sample.artifact(sha256(bytes), bytes.length) })

const asked = (turnId: string, id: string): NewEntry => ({
  kind: 'history-item',
  turnId,
  data: {
    ...{ id, type: 'call', tool: 'add', args: { n: 1 }, executedBy: 'runner', response: id },
    wire: { provider: 'p', api: 'a', type: 'call', origin: 'natural' },
  },
})

const keyed = (turnId: string, id: string, idempotencyKey: string): NewEntry => {
  const entry = sample.intent(turnId, id)
  return { ...entry, data: { ...entry.data, idempotencyKey } } as NewEntry
}

/** Two turns with a call and a gate each; then a third, which waits for a person. */
async function played(store: Store, conversation = 'c'): Promise<number> {
  const { epoch } = await store.acquire(conversation, { owner: 'test' })
  for (const [turn, bytes] of [
    ['t1', EARLY],
    ['t2', LATE],
  ] as const) {
    const call = `call-${turn}`
    const gate = `gate-${turn}`
    await store.append(conversation, epoch, [
      sample.turnStart(turn),
      sample.message(turn, `message-${turn}`),
      asked(turn, call),
      sample.gateOpened(turn, gate),
    ])
    const verdict = { verdict: 'approved', decidedBy: 'ada' } as const
    await store.decideGate(conversation, gate, verdict)
    await store.append(conversation, epoch, [
      sample.gateClosed(turn, gate, 'consumed'),
      keyed(turn, call, `${conversation}/${call}`),
    ])
    const end = [settled(turn, call, bytes), sample.turnEnd(turn)]
    await store.append(conversation, epoch, end, [bytes])
  }
  await store.append(conversation, epoch, [
    sample.turnStart('t3'),
    sample.message('t3', 'message-t3'),
    asked('t3', 'call-t3'),
    sample.gateOpened('t3', 'gate-t3'),
    { kind: 'turn-end', turnId: 't3', data: { status: 'suspended' } },
  ])
  await store.release(conversation, epoch)
  return epoch
}

/** How many entries a turn of `played` has. */
const TURN = 8
/** Everything up to the message that the third turn has. */
const SETTLED = 2 * TURN + 2

const bodies = async (store: Store, id: string, length?: number) =>
  (await allEntries(store, id)).slice(0, length)

const verifies = async (store: Store, conversation: string, what = '') => {
  const { ok, faults } = await store.verify({ conversation })
  assert.deepEqual({ ok, faults }, { ok: true, faults: [] }, what)
}

/** A conversation that continues elsewhere. */
export const storeForkChecks: readonly StoreCheck[] = [
  {
    name: 'forks a conversation at its end, cut back to where every call is settled',
    async run({ store, again, clock }) {
      await played(store)
      await store.setMeta('c', { title: 'Trip' })
      clock.advance(5)
      const before = await bodies(store, 'c')
      const gates = await store.openGates('c')
      const info = await store.fork('c', { to: 'f' })
      const read = again === undefined ? store : await again()
      assert.deepEqual(info, await read.conversation('f'))
      const { seal, ...rest } = info
      assert.match(seal ?? '', /^[0-9a-f]{64}$/)
      assert.deepEqual(rest, {
        id: 'f',
        createdAt: clock.now(),
        updatedAt: clock.now(),
        length: SETTLED + 1,
        epoch: (await read.conversation('c'))?.epoch,
        meta: { title: 'Trip' },
        origin: { conversation: 'c', length: SETTLED },
      })
      const forked = await bodies(read, 'f')
      assert.deepEqual(forked.slice(0, SETTLED), before.slice(0, SETTLED))
      const { kind, turnId, data } = forked[SETTLED] ?? {}
      assert.deepEqual(
        [kind, turnId, (data as { status?: string }).status],
        ['turn-end', 't3', 'aborted'],
      )
      await verifies(read, 'f')
      await verifies(read, 'c')
      assert.deepEqual(await bodies(read, 'c'), before)
      assert.deepEqual(await read.openGates('c'), gates)
      assert.deepEqual(await read.openGates('f'), [])
      assert.equal((await read.gate('f', 'gate-t1'))?.conversation, 'f')
      assert.equal(await read.gate('f', 'gate-t3'), undefined)
      assert.deepEqual(
        (await read.conversations({ meta: { title: 'Trip' } })).map(({ id }) => id),
        ['c', 'f'],
      )
    },
  },
  {
    name: 'forks after a turn and after a position',
    async run({ store }) {
      await played(store)
      const points: readonly [ForkOptions['after'], number][] = [
        [{ turnId: 't1' }, TURN],
        [{ turnId: 't2' }, 2 * TURN],
        [{ turnId: 't3' }, SETTLED],
        [{ position: '0.0' }, 0],
        [{ position: '1.0' }, 1],
        [{ position: '2.7' }, 2],
        // Inside the call of the first turn.
        ...[3, 4, 5, 6].map((seq): [ForkOptions['after'], number] => [{ position: `${seq}.0` }, 2]),
        [{ position: '7.0' }, 7],
        [{ position: '8.0' }, 8],
      ]
      for (const [after, length] of points) {
        const what = JSON.stringify(after)
        const { id, origin } = await store.fork('c', { ...(after && { after }) })
        assert.deepEqual(origin, { conversation: 'c', length }, what)
        await verifies(store, id, what)
      }
    },
  },
  {
    name: 'takes a chain of turns as one, whichever of its turns is named',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const resumed: NewEntry = { kind: 'turn-start', turnId: 't2', data: { continues: 't1' } }
      await store.append('c', epoch, [
        ...[sample.turnStart('t1'), sample.turnEnd('t1'), resumed, sample.turnEnd('t2')],
        ...[sample.turnStart('t3'), sample.turnEnd('t3')],
      ])
      for (const turnId of ['t1', 't2']) {
        const { length } = await store.fork('c', { after: { turnId } })
        assert.equal(length, 4)
      }
    },
  },
  {
    name: 'does not split a response, nor part it from the notes about it',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const said = (id: string): NewEntry => {
        const entry = sample.message('t', id)
        const data = { ...entry.data, role: 'assistant', response: 'r' }
        return { ...entry, data } as NewEntry
      }
      const note: NewEntry = {
        ...{ kind: 'note', turnId: 't' },
        data: { level: 'info', code: 'TAINT', message: 'read', data: { trust: 'third-party' } },
      }
      await store.append('c', epoch, [
        ...[sample.turnStart('t'), sample.message('t', 'm')],
        { kind: 'model-call', turnId: 't', data: { id: 'r', iteration: 1, digests: {} } },
        ...[said('a'), said('b'), note, sample.turnEnd('t')],
      ])
      for (const seq of [3, 4, 5]) {
        const { origin } = await store.fork('c', { after: { position: `${seq}.0` } })
        assert.equal(origin?.length, 2, `after ${seq}`)
      }
      assert.equal((await store.fork('c', { after: { position: '6.0' } })).origin?.length, 6)
    },
  },
  {
    name: 'continues a fork and its original apart, each under seals of its own',
    async run({ store }) {
      await played(store)
      const { seal = '' } = await store.fork('c', { to: 'f', after: { turnId: 't2' } })
      for (const conversation of ['c', 'f']) {
        const { epoch, created } = await store.acquire(conversation, { owner: 'test' })
        assert.equal(created, false)
        await store.append(conversation, epoch, [
          ...[sample.turnStart('own'), sample.message('own', `in-${conversation}`)],
          sample.turnEnd('own'),
        ])
        await verifies(store, conversation)
      }
      const ends = await store.find({ kind: 'turn-end', turnId: 'own' })
      assert.equal(new Set(ends.entries.map(({ entry }) => entry.seal)).size, 2)
      const own = (await store.conversation('f'))?.seal ?? ''
      const [first] = await bodies(store, 'f', TURN).then((all) => all.slice(-1))
      const kept = [first?.seal ?? '', seal, own]
      assert.equal((await store.verify({ conversation: 'f', seals: kept })).ok, true)
      const keys = await Promise.all(['c', 'f'].map((id) => store.key(id)))
      assert.notDeepEqual(keys[0], keys[1])
    },
  },
  {
    name: 'gives a fork the envelopes of its original, also a fork of a fork',
    async run({ store, again }) {
      await played(store)
      await store.fork('c', { to: 'f' })
      await store.fork('f', { to: 'g', after: { turnId: 't1' } })
      const read = again === undefined ? store : await again()
      const own = await read.envelopeKey('c')
      for (const id of ['f', 'g']) {
        assert.deepEqual(await read.envelopeKey(id), own)
        const { envelopeKey } = await read.acquire(id, { owner: 'test' })
        assert.deepEqual(envelopeKey, own)
      }
      assert.equal('envelopeKey' in (await read.acquire('c', { owner: 'test' })), false)
      assert.deepEqual((await read.conversation('g'))?.origin, { conversation: 'f', length: TURN })
      await verifies(read, 'g')
    },
  },
  {
    name: 'forks a conversation whose key the application has',
    async run({ store }) {
      const key = (id: string) => new Uint8Array(createHash('sha256').update(id).digest())
      const { epoch } = await store.acquire('c', { owner: 'test', key: key('c') })
      await store.append('c', epoch, [sample.turnStart('t'), sample.turnEnd('t')])
      await rejectsWith('E_STORE_KEY', store.fork('c', { to: 'f' }))
      await rejectsWith('E_STORE_KEY', store.fork('c', { to: 'f', key: () => key('x') }))
      await store.fork('c', { to: 'f', key })
      await rejectsWith('E_STORE_KEY', store.key('f'))
      assert.equal((await store.verify({ conversation: 'f', key: key('f') })).ok, true)
      assert.deepEqual(
        await store.envelopeKey('f', key('f')),
        await store.envelopeKey('c', key('c')),
      )
    },
  },
  {
    name: 'keeps the results of a fork when its original is deleted, and no others',
    async run({ store }) {
      await played(store)
      await store.fork('c', { to: 'f', after: { turnId: 't1' } })
      assert.deepEqual(await collected(store.digests('f')), [sha256(EARLY)])
      await store.delete('c')
      assert.deepEqual(await store.blob(sha256(EARLY)), EARLY)
      assert.equal(await store.blob(sha256(LATE)), undefined)
      await verifies(store, 'f')
      await store.delete('f')
      assert.equal(await store.blob(sha256(EARLY)), undefined)
      assert.deepEqual(await collected(store.digests()), [])
    },
  },
  {
    name: 'keeps conversations inside calls while a fork has their call',
    async run({ store }) {
      await played(store)
      const begin = async (id: string, outer: string) => {
        const { epoch } = await store.acquire(id, { owner: 'test' })
        await store.append(id, epoch, [inside('i', outer), sample.turnEnd('i')])
        await store.release(id, epoch)
      }
      await begin('c/call-t1', 'c')
      await begin('c/call-t1/deep', 'c/call-t1')
      await begin('c/call-t2', 'c')
      const there = async () => (await store.conversations()).map(({ id }) => id)
      await store.fork('c', { to: 'f', after: { turnId: 't1' } })
      await store.fork('f', { to: 'g' })
      await store.delete('c')
      const kept = ['c/call-t1', 'c/call-t1/deep']
      assert.deepEqual(await there(), [...kept, 'f', 'g'])
      assert.deepEqual(
        (await store.conversations({ topLevel: true })).map(({ id }) => id),
        ['f', 'g'],
      )
      await store.delete('f')
      assert.deepEqual(await there(), [...kept, 'g'])
      await verifies(store, 'g')
      await store.delete('g')
      assert.deepEqual(await there(), [])
    },
  },
  {
    name: 'deletes a fork and leaves the conversations inside calls to its original',
    async run({ store }) {
      await played(store)
      const { epoch } = await store.acquire('c/call-t1', { owner: 'test' })
      await store.append('c/call-t1', epoch, [inside('i', 'c'), sample.turnEnd('i')])
      await store.release('c/call-t1', epoch)
      await store.fork('c', { to: 'c/f' })
      await store.delete('c/f')
      const there = async () => (await store.conversations()).map(({ id }) => id)
      assert.deepEqual(await there(), ['c', 'c/call-t1'])
      await store.fork('c', { to: 'c/f' })
      await store.delete('c')
      assert.deepEqual(await there(), ['c/call-t1', 'c/f'])
    },
  },
  {
    name: 'exports and imports a fork',
    async run({ store }) {
      await played(store)
      await store.fork('c', { to: 'f', after: { turnId: 't2' } })
      const lines = await collected(store.export('f'))
      const { entries } = await store.import(lines, { conversation: 'i' })
      assert.equal(entries, 2 * TURN - 2)
      assert.equal('origin' in ((await store.conversation('i')) ?? {}), false)
      await verifies(store, 'i')
    },
  },
  {
    name: 'forks a conversation while a runner writes to it',
    async run({ store }) {
      await played(store)
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const writing = async () => {
        for (let n = 0; n < 5; n++) await store.append('c', epoch, [sample.note('t4', `${n}`)])
      }
      const [first, second] = await Promise.all([store.fork('c'), store.fork('c'), writing()])
      for (const { id, holder } of [first, second]) {
        assert.equal(holder, undefined)
        await verifies(store, id)
      }
      await verifies(store, 'c')
    },
  },
  {
    name: 'keeps the taint of an import in a fork of its beginning',
    async run({ store }) {
      await played(store)
      await store.import(await collected(store.export('c')), { conversation: 'i' })
      for (const seq of [0, 2, 7]) {
        const { id } = await store.fork('i', { after: { position: `${seq}.0` } })
        const notes = (await allEntries(store, id)).filter(({ kind }) => kind === 'note')
        assert.deepEqual(
          notes.map(({ data }) => (data as { readonly data?: unknown }).data),
          [{ trust: 'third-party' }],
        )
        await verifies(store, id)
      }
    },
  },
  {
    name: 'refuses a fork that cannot be made, and makes nothing',
    async run({ store }) {
      await played(store)
      await store.acquire('there', { owner: 'test' })
      const wrong = (options: unknown) => store.fork('c', options as ForkOptions)
      await rejectsWith('E_NOT_FOUND', store.fork('absent'))
      await rejectsWith('E_CONVERSATION_EXISTS', wrong({ to: 'there' }))
      await rejectsWith('E_CONVERSATION_EXISTS', wrong({ to: 'c' }))
      await rejectsWith('E_NOT_FOUND', wrong({ after: { turnId: 'absent' } }))
      await rejectsWith('E_INVALID_POSITION', wrong({ after: { position: '99.0' } }))
      await rejectsWith('E_INVALID_POSITION', wrong({ after: { position: 'x' } }))
      for (const options of [
        null,
        { to: '' },
        { to: 7 },
        { after: {} },
        { after: 'end' },
        { after: { turnId: 7 } },
        { after: { turnId: 't1', position: '1.0' } },
        { key: new Uint8Array(32) },
        { key: () => 'key', to: 'f' },
      ]) {
        await rejectsWith('E_INVALID_STORE_INPUT', wrong(options), JSON.stringify(options))
      }
      const there = (await store.conversations()).map(({ id }) => id)
      assert.deepEqual(there, ['c', 'there'])
    },
  },
]
