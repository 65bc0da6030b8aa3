import assert from 'node:assert/strict'
import type { NewEntry } from '../../store/entry.ts'
import type { ConversationInfo, ConversationQuery, Store } from '../../store/store.ts'
import { rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const idsOf = async (store: Store, query: ConversationQuery) =>
  (await store.conversations(query)).map(({ id }) => id)

/** The ids of a listing, read one a page. */
async function idsOfPages(store: Store, query: ConversationQuery): Promise<string[]> {
  const ids: string[] = []
  let after: ConversationInfo | undefined
  for (let pages = 0; pages < 100; pages++) {
    const [next] = await store.conversations({ ...query, limit: 1, ...(after && { after }) })
    if (next === undefined) return ids
    ids.push(next.id)
    after = next
  }
  throw new Error('paging does not end')
}

const innerStart = (conversation: string): NewEntry => ({
  kind: 'turn-start',
  turnId: 't',
  data: { parent: { conversation, turnId: 't' } },
})

/** Metadata of conversations, and how they are listed. */
export const storeConversationChecks: readonly StoreCheck[] = [
  {
    name: 'merges metadata, removes what is null, and leaves the time of the last change',
    async run({ store, clock, again }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      await store.append('c', epoch, [sample.turnStart('t'), sample.turnEnd('t')])
      const before = await store.conversation('c')
      assert.equal(before?.meta, undefined)
      clock.advance(1_000)
      const tags = ['a', { 'nul\0': 'half of 🧵', list: [null, 1.5, true] }]
      const set = await store.setMeta('c', { title: 'First', tags, draft: true })
      assert.deepEqual(set.meta, { title: 'First', tags, draft: true })
      await store.setMeta('c', { title: 'Second', draft: null, unknown: null })
      const expected = { ...before, meta: { title: 'Second', tags } }
      const read = again === undefined ? store : await again()
      assert.deepEqual(await read.conversation('c'), expected)
      assert.deepEqual(await read.conversations(), [expected])
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
      await store.append('c', epoch, [sample.note('t2', 'n')])
      assert.deepEqual((await store.conversation('c'))?.meta, { title: 'Second', tags })
      await store.setMeta('c', { title: null, tags: null })
      assert.equal((await store.conversation('c'))?.meta, undefined)
      await store.setMeta('c', { title: 'Third' })
      await store.delete('c')
      await rejectsWith('E_NOT_FOUND', store.setMeta('c', { title: 'Fourth' }))
      await store.acquire('c', { owner: 'test' })
      assert.equal((await store.conversation('c'))?.meta, undefined)
      assert.deepEqual(await store.conversations({ meta: { title: 'Third' } }), [])
    },
  },
  {
    name: 'refuses metadata that is not JSON, or too much, and keeps what was there',
    async run({ store }) {
      await store.acquire('c', { owner: 'test' })
      await store.setMeta('c', { title: 'kept' })
      const wrong: Record<string, object> = {
        'a function': { title: () => 'x' },
        'a date': { at: new Date(0) },
        'half a pair': { title: '\ud83e' },
        'no finite number': { size: Number.NaN },
        'a list': ['title'],
        'too many characters': { title: 'x'.repeat(16 * 1024) },
        'too many members': Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`n${n}`, n])),
      }
      for (const [what, patch] of Object.entries(wrong)) {
        await rejectsWith('E_INVALID_STORE_INPUT', store.setMeta('c', patch), what)
      }
      assert.deepEqual((await store.conversation('c'))?.meta, { title: 'kept' })
    },
  },
  {
    name: 'merges metadata that is set at the same time',
    async run({ store, again }) {
      await store.acquire('c', { owner: 'test' })
      const other = again === undefined ? store : await again()
      const names = Array.from({ length: 12 }, (_, n) => `n${n}`)
      await Promise.all(names.map((name, n) => (n % 2 ? store : other).setMeta('c', { [name]: n })))
      const meta = (await store.conversation('c'))?.meta ?? {}
      assert.deepEqual(Object.keys(meta).sort(), names.sort())
    },
  },
  {
    name: 'lists conversations by time, in both directions and in pages',
    async run({ store, clock }) {
      const epochs = new Map<string, number>()
      for (const name of ['b', 'a', 'd', 'c']) {
        epochs.set(name, (await store.acquire(name, { owner: 'test' })).epoch)
        if (name !== 'd') clock.advance(10)
      }
      for (const name of ['d', 'b']) {
        await store.append(name, epochs.get(name) as number, [sample.note('t', 'n')])
        clock.advance(10)
      }
      const orders: readonly [NonNullable<ConversationQuery['orderBy']>, readonly string[]][] = [
        ['id', ['a', 'b', 'c', 'd']],
        // `c` and `d` were made at the same time.
        ['createdAt', ['b', 'a', 'c', 'd']],
        ['updatedAt', ['a', 'c', 'd', 'b']],
      ]
      for (const [orderBy, ids] of orders) {
        assert.deepEqual(await idsOf(store, { orderBy }), ids, orderBy)
        assert.deepEqual(await idsOfPages(store, { orderBy }), ids, orderBy)
        const last = ids.toReversed()
        assert.deepEqual(await idsOf(store, { orderBy, descending: true }), last, orderBy)
        assert.deepEqual(await idsOfPages(store, { orderBy, descending: true }), last, orderBy)
      }
      assert.deepEqual(await idsOf(store, { descending: true, after: 'c' }), ['b', 'a'])
      await rejectsWith(
        'E_INVALID_STORE_INPUT',
        store.conversations({ orderBy: 'updatedAt', after: 'c' }),
      )
      await rejectsWith('E_INVALID_STORE_INPUT', store.conversations({ order: 'id' } as never))
    },
  },
  {
    name: 'lists conversations by the beginning of their ids',
    async run({ store }) {
      const names = [
        'a',
        'a/1',
        'a/2',
        'a0',
        'b',
        'e\ud7ff',
        'e\ud7ffx',
        'e\ue000',
        'f\u{10ffff}',
        '🧵',
      ]
      for (const name of names) await store.acquire(name, { owner: 'test' })
      for (const prefix of [
        '',
        'a',
        'a/',
        'a%',
        'A',
        'e\ud7ff',
        'f\u{10ffff}',
        '🧵',
        '\u{10ffff}',
      ]) {
        const expected = names.filter((name) => name.startsWith(prefix))
        assert.deepEqual(await idsOf(store, { prefix }), expected, prefix)
        assert.deepEqual(await idsOfPages(store, { prefix }), expected, prefix)
        const last = await idsOf(store, { prefix, descending: true })
        assert.deepEqual(last, expected.toReversed(), prefix)
      }
    },
  },
  {
    name: 'lists conversations whose metadata has equal members',
    async run({ store }) {
      const long = 'x'.repeat(2_000)
      const metas: Readonly<Record<string, object>> = {
        a: { user: 'ada', size: 1, box: { h: 1, w: [2] } },
        b: { user: 'ada', size: '1' },
        c: { user: 'bob', text: long },
        d: {},
      }
      for (const [name, meta] of Object.entries(metas)) {
        await store.acquire(name, { owner: 'test' })
        await store.setMeta(name, meta)
      }
      const listed = async (meta: object) => (await idsOf(store, { meta })).join('')
      assert.equal(await listed({}), 'abcd')
      assert.equal(await listed({ user: 'ada' }), 'ab')
      assert.equal(await listed({ user: 'ada', size: 1 }), 'a')
      assert.equal(await listed({ size: '1' }), 'b')
      assert.equal(await listed({ box: { w: [2], h: 1 } }), 'a')
      assert.equal(await listed({ box: { h: 1 } }), '')
      assert.equal(await listed({ text: long }), 'c')
      assert.equal(await listed({ text: `${long}x` }), '')
      assert.equal(await listed({ use: 'ada' }), '')
      const ada = { meta: { user: 'ada' }, orderBy: 'updatedAt', descending: true } as const
      assert.deepEqual(await idsOfPages(store, ada), ['b', 'a'])
    },
  },
  {
    name: 'leaves out the conversations of turns inside calls',
    async run({ store }) {
      const first: Readonly<Record<string, NewEntry>> = {
        outer: sample.turnStart('t'),
        'outer/inner': innerStart('outer'),
        'outer/inner/deep': innerStart('outer/inner'),
        'outer/chosen by hand': sample.turnStart('t'),
        'a copy': innerStart('outer'),
      }
      for (const [name, start] of Object.entries(first)) {
        const { epoch } = await store.acquire(name, { owner: 'test' })
        await store.append(name, epoch, [start, sample.note('t', 'n')])
        await store.append(name, epoch, [{ ...innerStart('outer'), turnId: 'later' }])
      }
      const expected = ['a copy', 'outer', 'outer/chosen by hand']
      assert.deepEqual(await idsOf(store, { topLevel: true }), expected)
      assert.deepEqual(await idsOfPages(store, { topLevel: true }), expected)
      assert.deepEqual(await idsOf(store, { topLevel: true, prefix: 'outer/' }), expected.slice(2))
      assert.equal((await store.conversations({ topLevel: false })).length, 5)
    },
  },
]
