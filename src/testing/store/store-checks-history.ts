import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { Message } from '../../records/message.ts'
import { Thought } from '../../records/thought.ts'
import { ToolCall } from '../../records/tool-call.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { NewEntry } from '../../store/entry.ts'
import type { HistoryPage, Store } from '../../store/store.ts'
import { rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const SMALL = new TextEncoder().encode('small result')
const sha256 = createHash('sha256').update(SMALL).digest('hex')
const AT = '2026-01-01T00:00:00.000Z'

const item = (id: string, role: 'user' | 'assistant', text: string): NewEntry => ({
  kind: 'history-item',
  turnId: 't',
  data: {
    id,
    type: 'message',
    role,
    parts: [
      { type: 'text', text },
      { type: 'text', text },
    ],
  },
})

/** Two turns with every kind of entry, on both sides of an append. */
async function filled(store: Store) {
  const { epoch } = await store.acquire('c', { owner: 'test' })
  await store.append(
    'c',
    epoch,
    [
      sample.turnStart('t'),
      sample.message('t', 'asked'),
      { kind: 'thought', turnId: 't', data: { id: 'thought', content: 'hm', createdAt: AT } },
      sample.intent('t', 'call'),
      sample.settlement('t', 'call', { results: sample.artifact(sha256, SMALL.length) }),
      sample.gateOpened('t', 'gate'),
      item('for the model', 'user', 'correct this'),
      item('cited', 'assistant', 'twice'),
      item('silent', 'assistant', ''),
      sample.turnEnd('t'),
    ],
    [SMALL],
  )
  await store.append('c', epoch, [
    sample.turnStart('t2'),
    sample.message('t2', 'again'),
    sample.settlement('t2', 'doubt', { settlement: 'in-doubt' }),
    sample.note('t2', 'n'),
    sample.turnEnd('t2'),
  ])
  return epoch
}

const ALL = ['asked', 'thought', 'call', 'cited', 'again', 'doubt']
/** The text of the artifact of a call. */
function textOf(call: HistoryPage['items'][number] | undefined): Promise<string> {
  assert.ok(ToolCall.isToolCall(call) && SpooledArtifact.isSpooledArtifact(call.results))
  return call.results.asString()
}

const idsOf = ({ items }: HistoryPage) => items.map(({ id }) => id)

/** A conversation as records, page by page. */
export const storeHistoryChecks: readonly StoreCheck[] = [
  {
    name: 'gives the records of a conversation in order, with their results',
    async run({ store, again }) {
      await filled(store)
      const read = again === undefined ? store : await again()
      const page = await read.history({ conversation: 'c' })
      assert.deepEqual(idsOf(page), ALL)
      assert.equal(page.before, undefined)
      const [asked, thought, call, cited, , doubt] = page.items
      assert.ok(Message.isMessage(asked) && asked.role === 'user')
      assert.ok(Thought.isThought(thought) && thought.content.text === 'hm')
      assert.ok(ToolCall.isToolCall(call) && ToolCall.isToolCall(doubt))
      assert.equal(doubt.settlement, 'in-doubt')
      assert.ok(Message.isMessage(cited) && cited.content?.text === 'twicetwice')
      assert.equal(await textOf(call), 'small result')
    },
  },
  {
    name: 'gives the newest records first, and earlier ones page by page',
    async run({ store }) {
      const epoch = await filled(store)
      for (let limit = 1; limit <= ALL.length + 1; limit++) {
        const seen: string[] = []
        let before: string | undefined
        let pages = 0
        do {
          const query = { conversation: 'c', limit, ...(before !== undefined && { before }) }
          const page = await store.history(query)
          assert.ok(page.items.length > 0 && page.items.length <= limit)
          seen.unshift(...idsOf(page))
          before = page.before
          pages++
        } while (before !== undefined)
        assert.deepEqual(seen, ALL, `pages of ${limit}`)
        assert.equal(pages, Math.ceil(ALL.length / limit), `pages of ${limit}`)
      }
      const { before = '' } = await store.history({ conversation: 'c', limit: 2 })
      await store.append('c', epoch, [sample.message('t3', 'later')])
      const earlier = await store.history({ conversation: 'c', limit: 2, before })
      assert.deepEqual(idsOf(earlier), ['call', 'cited'])
    },
  },
  {
    name: 'leaves out what a rewind took back, whatever page it stands on',
    async run({ store }) {
      const epoch = await filled(store)
      const rewind = (id: string, message: string): NewEntry => ({
        kind: 'rewind',
        turnId: 't3',
        data: { id, toTurnId: 't2', message },
      })
      // A newer record of a call before the message says how that call ended.
      await store.append('c', epoch, [
        sample.settlement('t2', 'known', { extra: { supersedes: 'call' } }),
        sample.settlement('t2', 'undone', { extra: { supersedes: 'doubt' } }),
      ])
      const { before = '' } = await store.history({ conversation: 'c', limit: 1 })
      await store.append('c', epoch, [rewind('r1', 'again'), sample.message('t3', 'asked anew')])
      const left = ['asked', 'thought', 'call', 'cited', 'known', 'asked anew']
      assert.deepEqual(idsOf(await store.history({ conversation: 'c' })), left)
      assert.deepEqual(idsOf(await store.history({ conversation: 'c', before })), left.slice(0, -1))
      await store.append('c', epoch, [rewind('r2', 'asked anew'), sample.message('t4', 'third')])
      assert.deepEqual(idsOf(await store.history({ conversation: 'c', limit: 2 })), [
        'known',
        'third',
      ])
      await store.append('c', epoch, [rewind('r3', 'unknown')])
      assert.deepEqual(idsOf(await store.history({ conversation: 'c' })), [
        ...left.slice(0, -1),
        'third',
      ])
      const report = await store.verify({ conversation: 'c' })
      assert.equal(report.ok, true)
    },
  },
  {
    name: 'takes the position of any event, and refuses other texts',
    async run({ store }) {
      await filled(store)
      const upTo = async (before: string) =>
        idsOf(await store.history({ conversation: 'c', before }))
      assert.deepEqual(await upTo('5.0'), ['asked', 'thought'])
      assert.deepEqual(await upTo('5.3'), ['asked', 'thought', 'call'])
      assert.deepEqual(await upTo('0.0'), [])
      assert.deepEqual(await upTo('999.0'), ALL)
      for (const wrong of ['', '5', 'x.0', '-1.0', 5 as never]) {
        const query = { conversation: 'c', before: wrong }
        await rejectsWith('E_INVALID_POSITION', store.history(query), wrong)
      }
      await rejectsWith('E_NOT_FOUND', store.history({ conversation: 'unknown' }))
    },
  },
  {
    name: 'reads the larger results of records from the spool that is given',
    async run({ store }) {
      const spool = memorySpool()
      const { digest, byteLength } = await spool.write('a large result')
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const results = sample.artifact(digest, byteLength)
      await store.append('c', epoch, [sample.settlement('t', 'call', { results })])
      const { items } = await store.history({ conversation: 'c', spool })
      assert.equal(await textOf(items[0]), 'a large result')
    },
  },
]
