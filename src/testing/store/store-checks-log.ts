import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { checksum } from '../../core/checksum.ts'
import { type NewEntry, versionOf } from '../../store/entry.ts'
import { allEntries, findAll, rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const HOSTILE_IDS = [
  'plain',
  'nul\0byte',
  'half \ud83e surrogate',
  'other half \udea1',
  'back\\slash',
  'back\\u0000slash',
  'quote \' and " and ; drop table entries',
  '🧵',
  'x'.repeat(300),
  'x'.repeat(301),
  '__proto__',
]

/** Appending, reading back and searching. */
export const storeLogChecks: readonly StoreCheck[] = [
  {
    name: 'reads back what was appended, in order, and says where and when it was stored',
    async run({ store, clock }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const content = 'grüß dich 🧵 \u0000 \ud800'
      const stamp = { v: versionOf('message'), epoch }
      const first = await store.append('c', epoch, [
        sample.turnStart('t1'),
        sample.message('t1', 'm1', content),
      ])
      assert.deepEqual(first, { seq: 1, time: clock.now() })
      clock.advance(1000)
      const second = await store.append('c', epoch, [sample.turnEnd('t1')])
      assert.deepEqual(second, { seq: 3, time: first.time + 1000 })
      const entries = await allEntries(store, 'c')
      assert.deepEqual(
        entries.map(({ v, epoch: by, seq, time, kind, turnId, data }) => {
          return { v, epoch: by, seq, time, kind, turnId, data }
        }),
        [
          { ...stamp, seq: 1, time: first.time, ...sample.turnStart('t1') },
          { ...stamp, seq: 2, time: first.time, ...sample.message('t1', 'm1', content) },
          { ...stamp, seq: 3, time: second.time, ...sample.turnEnd('t1') },
        ],
      )
      assert.deepEqual(await allEntries(store, 'c', 3), entries.slice(2))
      assert.match(entries[2]?.seal ?? '', /^[0-9a-f]{64}$/)
      assert.deepEqual(await allEntries(store, 'unknown'), [])
    },
  },
  {
    name: 'reads a long log in order',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const notes = Array.from({ length: 1203 }, (_, i) => sample.note('t', `note ${i}`))
      await store.append('c', epoch, notes)
      const read = await allEntries(store, 'c')
      assert.deepEqual(
        read.map(({ seq, data }) => [seq, (data as { message: string }).message]),
        notes.map(({ data }, i) => [i + 1, (data as { message: string }).message]),
      )
      assert.equal((await store.conversation('c'))?.length, 1203)
    },
  },
  {
    name: 'stores all of an append or nothing',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      await store.append('c', epoch, [sample.settlement('t', 'call_1')])
      const bytes = new TextEncoder().encode('lost')
      const entries = [sample.note('t', 'n'), sample.settlement('t', 'call_1')]
      await rejectsWith('E_DUPLICATE_ENTRY', store.append('c', epoch, entries, [bytes]))
      const twice = [sample.intent('t', 'call_2'), sample.intent('t', 'call_2')]
      await rejectsWith('E_DUPLICATE_ENTRY', store.append('c', epoch, twice))
      const invalid = [sample.note('t', 'n'), { ...sample.note('t', 'x'), kind: 'other' }]
      await rejectsWith('E_INVALID_STORE_INPUT', store.append('c', epoch, invalid as NewEntry[]))
      assert.equal((await allEntries(store, 'c')).length, 1)
      assert.equal(await store.blob(createHash('sha256').update(bytes).digest('hex')), undefined)
      await store.append('c', epoch, [sample.intent('t', 'call_2')])
      assert.deepEqual(
        (await allEntries(store, 'c')).map(({ seq }) => seq),
        [1, 2],
      )
    },
  },
  {
    name: 'keeps ids unique by conversation and kind',
    async run({ store }) {
      const one = await store.acquire('one', { owner: 'test' })
      const two = await store.acquire('two', { owner: 'test' })
      await store.append('one', one.epoch, [sample.intent('t', 'call_0')])
      await store.append('one', one.epoch, [sample.settlement('t', 'call_0')])
      await store.append('two', two.epoch, [sample.intent('t', 'call_0')])
      await rejectsWith(
        'E_DUPLICATE_ENTRY',
        store.append('one', one.epoch, [sample.settlement('t', 'call_0')]),
      )
    },
  },
  {
    name: 'finds entries by any id that a provider may send',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      for (const id of HOSTILE_IDS) await store.append('c', epoch, [sample.intent('t', id)])
      for (const id of HOSTILE_IDS) {
        assert.equal((await store.get('c', 'intent', id))?.data.id, id)
        assert.equal((await store.find({ conversation: 'c', id })).entries.length, 1)
      }
      assert.equal(await store.get('c', 'intent', 'absent'), undefined)
      assert.equal(await store.get('c', 'settlement', 'plain'), undefined)
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
    },
  },
  {
    name: 'finds and counts by conversation, turn, kind, checksum, tool, settlement and time',
    async run({ store, clock }) {
      for (const conversation of ['a', 'b']) {
        const { epoch } = await store.acquire(conversation, { owner: 'test' })
        for (let i = 0; i < 5; i++) {
          const id = `call_${i}`
          const call = { args: { n: i % 2 }, tool: i < 3 ? 'add' : 'send' }
          const settlement = i === 4 ? ('in-doubt' as const) : ('ok' as const)
          await store.append(conversation, epoch, [
            sample.intent(`t${i}`, id, call.args, call.tool),
            sample.settlement(`t${i}`, id, { ...call, settlement }),
          ])
          clock.advance(1000)
        }
      }
      const ids = async (filter: Parameters<typeof findAll>[1]) =>
        (await findAll(store, filter)).map(({ data }) => (data as { id: string }).id)
      const calls = { kind: 'settlement' } as const
      assert.equal((await ids({})).length, 20)
      assert.deepEqual(
        await ids({ ...calls, conversation: 'a' }),
        [0, 1, 2, 3, 4].map((i) => `call_${i}`),
      )
      assert.deepEqual(await ids({ conversation: 'b', turnId: 't2' }), ['call_2', 'call_2'])
      assert.deepEqual(await ids({ ...calls, tool: 'send' }), [
        'call_3',
        'call_4',
        'call_3',
        'call_4',
      ])
      assert.deepEqual(await ids({ settlement: 'in-doubt' }), ['call_4', 'call_4'])
      const same = checksum('add', { n: 0 })
      assert.deepEqual(await ids({ ...calls, conversation: 'a', checksum: same }), [
        'call_0',
        'call_2',
      ])
      assert.equal(await store.count({ ...calls, conversation: 'a', checksum: same }), 2)
      assert.equal(await store.count({ ...calls, checksum: same }), 4)
      assert.equal(await store.count({ conversation: 'a', checksum: same, turnId: 't0' }), 2)
      assert.equal(await store.count({ conversation: 'unknown' }), 0)
      const start = clock.now() - 10_000
      assert.deepEqual(await ids({ ...calls, since: start + 1000, until: start + 3000 }), [
        'call_1',
        'call_2',
      ])
      for (const filter of [{}, calls, { tool: 'send' }, { conversation: 'a', turnId: 't0' }]) {
        const reversed = await ids({ ...filter, descending: true })
        assert.deepEqual(reversed, (await ids(filter)).reverse())
      }
      await rejectsWith('E_INVALID_STORE_INPUT', store.find({ after: 'x' }))
    },
  },
  {
    name: 'refuses a conversation that is not there',
    async run({ store }) {
      await rejectsWith('E_NOT_FOUND', store.append('unknown', 1, [sample.note('t', 'n')]))
      await rejectsWith('E_NOT_FOUND', store.key('unknown'))
    },
  },
  {
    name: 'refuses an entry that is too large',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const large = sample.message('t', 'm', 'x'.repeat(33 * 1024 * 1024))
      await rejectsWith('E_INVALID_STORE_INPUT', store.append('c', epoch, [large]))
      assert.equal((await store.conversation('c'))?.length, 0)
    },
  },
  {
    name: 'lists conversations in pages',
    async run({ store }) {
      for (const name of ['b', 'a', 'c']) await store.acquire(name, { owner: 'test' })
      const first = await store.conversations({ limit: 2 })
      assert.deepEqual(
        first.map(({ id }) => id),
        ['a', 'b'],
      )
      const rest = await store.conversations({ after: 'b', limit: 2 })
      assert.deepEqual(
        rest.map(({ id }) => id),
        ['c'],
      )
    },
  },
  {
    name: 'lists conversations in the order of code points',
    async run({ store }) {
      const names = ['A', 'a', 'a\uffee', 'a🧵', 'a🧶', 'b', '\uffee', '🧵', '🧵a']
      for (const name of names.toReversed()) await store.acquire(name, { owner: 'test' })
      const listed: string[] = []
      for (let page = 0; page < names.length; page++) {
        const [next] = await store.conversations({ after: listed.at(-1) ?? '', limit: 1 })
        listed.push(next?.id ?? '')
      }
      assert.deepEqual(listed, names)
    },
  },
  {
    name: 'keeps many conversations apart that are appended to at once',
    async run({ store }) {
      const names = Array.from({ length: 40 }, (_, i) => `conversation ${i}`)
      await Promise.all(
        names.map(async (name) => {
          const { epoch } = await store.acquire(name, { owner: 'test' })
          for (let i = 0; i < 5; i++) {
            await store.append(name, epoch, [
              sample.intent('t', `call_${i}`, { name }),
              sample.settlement('t', `call_${i}`, { args: { name } }),
            ])
          }
          await store.append(name, epoch, [sample.turnEnd('t')])
        }),
      )
      for (const name of names) {
        const entries = await allEntries(store, name)
        assert.deepEqual(
          entries.map(({ seq }) => seq),
          Array.from({ length: 11 }, (_, i) => i + 1),
        )
        assert.deepEqual((await store.verify({ conversation: name })).faults, [])
      }
    },
  },
  {
    name: 'numbers appends of one holder that are under way at once',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const ids = Array.from({ length: 25 }, (_, i) => `call_${i}`)
      const appended = await Promise.all(
        ids.map((id) => store.append('c', epoch, [sample.intent('t', id)])),
      )
      const entries = await allEntries(store, 'c')
      for (const [at, { seq }] of appended.entries()) {
        assert.deepEqual(entries[seq - 1], await store.get('c', 'intent', ids[at] as string))
      }
      assert.deepEqual(
        entries.map(({ seq }) => seq),
        ids.map((_, i) => i + 1),
      )
      assert.deepEqual(
        entries.map(({ data }) => (data as { id: string }).id).sort(),
        [...ids].sort(),
      )
    },
  },
]
