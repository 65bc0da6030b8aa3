import assert from 'node:assert/strict'
import { allEntries, rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

/** One live runner per conversation, and the keys that come with it. */
export const storeLeaseChecks: readonly StoreCheck[] = [
  {
    name: 'gives a conversation to one holder at a time',
    async run({ store, clock }) {
      const first = await store.acquire('c', { owner: 'one', leaseMs: 30_000 })
      assert.deepEqual(first, {
        conversation: 'c',
        epoch: 1,
        expiresAt: clock.now() + 30_000,
        created: true,
      })
      await rejectsWith('E_CONVERSATION_BUSY', store.acquire('c', { owner: 'two' }))
      assert.equal((await store.conversation('c'))?.holder?.owner, 'one')
      await store.release('c', first.epoch)
      assert.equal((await store.conversation('c'))?.holder, undefined)
      const second = await store.acquire('c', { owner: 'two' })
      assert.deepEqual([second.epoch, second.created], [2, false])
    },
  },
  {
    name: 'passes a conversation on when the lease is over, and fences the old holder',
    async run({ store, clock }) {
      const old = await store.acquire('c', { owner: 'one', leaseMs: 1000 })
      await store.append('c', old.epoch, [sample.note('t', 'mine')])
      clock.advance(1000)
      await store.append('c', old.epoch, [sample.note('t', 'late, but no runner has taken over')])
      const next = await store.acquire('c', { owner: 'two' })
      const stale = store.append('c', old.epoch, [sample.note('t', 'too late')])
      await rejectsWith('E_STALE_RUNNER', stale)
      await rejectsWith('E_STALE_RUNNER', store.renew('c', old.epoch))
      await store.release('c', old.epoch)
      await rejectsWith('E_CONVERSATION_BUSY', store.acquire('c', { owner: 'three' }))
      await store.append('c', next.epoch, [sample.note('t', 'theirs')])
      assert.deepEqual(
        (await allEntries(store, 'c')).map(({ epoch }) => epoch),
        [1, 1, 2],
      )
    },
  },
  {
    name: 'prolongs a lease that is renewed',
    async run({ store, clock }) {
      const { epoch } = await store.acquire('c', { owner: 'one', leaseMs: 1000 })
      clock.advance(900)
      assert.equal((await store.renew('c', epoch, 1000)).expiresAt, clock.now() + 1000)
      clock.advance(900)
      await rejectsWith('E_CONVERSATION_BUSY', store.acquire('c', { owner: 'two' }))
      await rejectsWith('E_NOT_FOUND', store.renew('unknown', 1))
    },
  },
  {
    name: 'lets a holder take over by force, and fences the other',
    async run({ store }) {
      const old = await store.acquire('c', { owner: 'dead' })
      const next = await store.acquire('c', { owner: 'recovery', force: true })
      assert.equal(next.epoch, old.epoch + 1)
      await rejectsWith('E_STALE_RUNNER', store.append('c', old.epoch, [sample.note('t', 'n')]))
    },
  },
  {
    name: 'gives one of many that ask at once the conversation',
    async run({ store }) {
      const asked = Array.from({ length: 12 }, (_, i) => store.acquire('c', { owner: `o${i}` }))
      const granted = (await Promise.allSettled(asked)).filter(
        ({ status }) => status === 'fulfilled',
      )
      assert.equal(granted.length, 1)
    },
  },
  {
    name: 'makes a key of 32 bytes for each conversation and keeps it',
    async run({ store }) {
      await store.acquire('a', { owner: 'test' })
      await store.acquire('b', { owner: 'test' })
      const [a, b] = [await store.key('a'), await store.key('b')]
      assert.equal(a.length, 32)
      assert.notDeepEqual(a, b)
      a.fill(0)
      assert.notDeepEqual(await store.key('a'), a, 'the key given out is a copy')
      assert.deepEqual(await store.key('a'), await store.key('a'))
    },
  },
  {
    name: 'does not store a key that the application gives',
    async run({ store, clock }) {
      const key = new Uint8Array(32).fill(7)
      const lease = await store.acquire('c', { owner: 'test', key, leaseMs: 1000 })
      await store.append('c', lease.epoch, [sample.turnEnd('t')])
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
      await store.release('c', lease.epoch)
      await rejectsWith('E_STORE_KEY', store.key('c'))
      await rejectsWith('E_STORE_KEY', store.acquire('c', { owner: 'test' }))
      const wrong = new Uint8Array(32).fill(8)
      await rejectsWith('E_STORE_KEY', store.acquire('c', { owner: 'test', key: wrong }))
      assert.equal((await store.conversation('c'))?.epoch, lease.epoch)
      assert.equal((await store.verify({ conversation: 'c' })).ok, false)
      assert.deepEqual((await store.verify({ conversation: 'c', key })).faults, [])
      assert.equal((await store.verify({ conversation: 'c', key: wrong })).ok, false)
      clock.advance(1)
      assert.equal((await store.acquire('c', { owner: 'test', key })).epoch, lease.epoch + 1)
    },
  },
  {
    name: 'shares everything with other handles on the same data',
    async run({ store, clock, again }) {
      if (again === undefined) {
        assert.equal(store.durable, false, 'a durable store can be opened twice')
        return
      }
      const old = await store.acquire('c', { owner: 'one', leaseMs: 1000 })
      await store.append('c', old.epoch, [sample.note('t', 'from one')])
      const other = await again()
      assert.deepEqual(await allEntries(other, 'c'), await allEntries(store, 'c'))
      assert.deepEqual(await other.key('c'), await store.key('c'))
      await rejectsWith('E_CONVERSATION_BUSY', other.acquire('c', { owner: 'two' }))
      clock.advance(1000)
      const next = await other.acquire('c', { owner: 'two' })
      await rejectsWith('E_STALE_RUNNER', store.append('c', old.epoch, [sample.note('t', 'n')]))
      await other.append('c', next.epoch, [sample.turnEnd('t')])
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
    },
  },
]
