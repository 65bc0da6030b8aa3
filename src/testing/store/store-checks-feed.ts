import assert from 'node:assert/strict'
import type { FeedDriver } from '../../store/feed-driver.ts'
import type { Store } from '../../store/store.ts'
import type { StoreCheck } from './store-check.ts'

/** A check that holds for stores whose processes can reach each other. */
const feedCheck = (
  name: string,
  run: (feed: FeedDriver, store: Store) => Promise<void>,
): StoreCheck => ({
  name,
  async run({ store }) {
    if (store.feed === undefined) return
    await store.acquire('c', { owner: 'test' })
    await store.acquire('d', { owner: 'test' })
    await run(store.feed, store)
  },
})

const row = (turnId: string, body = '{}') => ({ turnId, mode: 'queue', body, until: 50 }) as const

const NOTHING = { followers: [], stops: [], queued: [] }

/** What processes ask of the turns of each other. */
export const storeFeedChecks: readonly StoreCheck[] = [
  feedCheck('keeps stop requests until they are taken back', async (feed) => {
    await feed.stop('c', 't1')
    await feed.stop('c', 't1')
    await feed.stop('missing', 't1')
    assert.deepEqual((await feed.requests('c', 0)).stops, ['t1'])
    assert.deepEqual(await feed.requests('d', 0), NOTHING)
    await feed.unstop('c', 't1')
    assert.deepEqual(await feed.requests('c', 0), NOTHING)
  }),
  feedCheck('keeps queued messages in their order, and no more than it may', async (feed) => {
    assert.equal(await feed.enqueue('c', row('t2', '{"message":"é"}'), 2), true)
    assert.equal(await feed.enqueue('c', row('t1'), 2), true)
    assert.equal(await feed.enqueue('c', row('t3'), 2), false)
    assert.equal(await feed.enqueue('d', row('t3'), 2), true)
    assert.equal(await feed.enqueue('c', { ...row('t2'), mode: 'steer', until: 70 }, 2), true)
    const { queued } = await feed.requests('c', 0)
    assert.deepEqual(queued, [
      { turnId: 't2', mode: 'steer', body: '{"message":"é"}', until: 70 },
      row('t1'),
    ])
    assert.equal(await feed.dequeue('c', 't2'), true)
    assert.equal(await feed.dequeue('c', 't2'), false)
    assert.deepEqual((await feed.requests('c', 0)).queued, [row('t1')])
  }),
  feedCheck('forgets requests with their conversation', async (feed, store) => {
    await feed.stop('c', 't1')
    await feed.enqueue('c', row('t2'), 2)
    await feed.announce('c', 'reader', 100)
    await feed.send('c', 1, 'batch')
    await store.delete('c')
    await store.acquire('c', { owner: 'test' })
    assert.deepEqual(await feed.requests('c', 0), NOTHING)
  }),
]
