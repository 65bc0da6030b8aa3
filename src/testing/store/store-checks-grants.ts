import assert from 'node:assert/strict'
import type { NewEntry } from '../../store/entry.ts'
import type { CoverQuery, Grant, NewGrant } from '../../store/grant.ts'
import type { Store } from '../../store/store.ts'
import { rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const HOUR = 60 * 60 * 1000
const definition = 'f'.repeat(64)

/** A conversation whose calls wait, and the way to approve one with a grant. */
async function granting(store: Store, conversation = 'c') {
  const { epoch } = await store.acquire(conversation, { owner: 'test', leaseMs: 1000 * HOUR })
  let count = 0
  const grant = async (given: NewGrant, args = { n: 1, to: 'ann' }): Promise<string> => {
    const gate = `g${++count}`
    const request = { args, context: { definition } }
    await store.append(conversation, epoch, [sample.gateOpened('t', gate, request)])
    const decision = { verdict: 'approved', decidedBy: 'ada', grant: given } as const
    const decided = await store.decideGate(conversation, gate, decision)
    return decided.decision?.grant?.id ?? ''
  }
  return { epoch, grant }
}

const call = (about: Partial<CoverQuery> = {}): CoverQuery => ({
  tool: 'add',
  definition,
  args: { n: 1, to: 'ann' },
  tainted: false,
  conversations: ['c'],
  ...about,
})

/** The intent of a call that a grant covers. */
function covered(id: string, grant: string, subject?: string): NewEntry {
  const intent = sample.intent('t', id, { n: 1, to: 'ann' })
  const { definition: by, tainted, conversations } = call()
  const whom = subject === undefined ? { conversations } : { conversations: [], subject }
  const why = { definition: by, tainted, ...whom }
  return { ...intent, data: { ...intent.data, approvedBy: { grant }, covered: why } } as NewEntry
}

const idOf = (grant: Grant | undefined) => grant?.id

/** Standing approvals: given with a decision, found by what they cover, used as often as granted. */
export const storeGrantChecks: readonly StoreCheck[] = [
  {
    name: 'keeps a grant with the decision that gives it',
    async run({ store, clock, again }) {
      const { grant } = await granting(store)
      const until = clock.now() + HOUR
      const id = await grant({ for: 'conversation', args: { to: 'ann' }, uses: 2, until })
      const expected: Grant = {
        id,
        tool: 'add',
        definition,
        args: { to: 'ann' },
        for: 'conversation',
        conversation: 'c',
        decidedBy: 'ada',
        createdAt: clock.now(),
        expiresAt: until,
        uses: 2,
        used: 0,
        tainted: false,
        given: { conversation: 'c', gate: 'g1' },
      }
      const other = (await again?.()) ?? store
      assert.deepEqual(await other.grants(), [expected])
      assert.deepEqual(await other.grantFor(call()), expected)
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
    },
  },
  {
    name: 'covers what was granted, and nothing else',
    async run({ store }) {
      const { grant } = await granting(store)
      const exact = await grant({ for: 'conversation' })
      const byName = await grant({ for: 'subject', subject: 'uma', args: { to: 'ann' } })
      const tainted = await grant({ for: 'conversation', tainted: true, args: { n: 1 } })
      const found = async (about?: Partial<CoverQuery>) => idOf(await store.grantFor(call(about)))
      assert.equal(await found(), exact)
      assert.equal(await found({ args: { to: 'ann', n: 1 } }), exact)
      assert.equal(await found({ conversations: ['c/inner', 'c'] }), exact)
      assert.equal(await found({ args: { n: 1, to: 'ann', more: 1 } }), tainted)
      assert.equal(await found({ tainted: true }), tainted)
      assert.equal(await found({ conversations: ['d'] }), undefined)
      assert.equal(await found({ conversations: ['d'], subject: 'uma' }), byName)
      assert.equal(await found({ conversations: ['d'], subject: 'Uma' }), undefined)
      assert.equal(await found({ conversations: ['d'], subject: 'uma', args: {} }), undefined)
      assert.equal(await found({ definition: 'e'.repeat(64) }), undefined)
      assert.equal(await found({ tool: 'sub' }), undefined)
      const any = await grant({ for: 'conversation', args: {} })
      assert.equal(await found({ args: { x: [{}] } }), any)
    },
  },
  {
    name: 'lets a grant be used as often as it says, also by calls at the same time',
    async run({ store }) {
      const { grant } = await granting(store)
      const id = await grant({ for: 'subject', subject: 'uma', uses: 3 })
      const names = ['k', 'l', 'm', 'n', 'o']
      const uses = names.map(async (conversation) => {
        const { epoch } = await store.acquire(conversation, { owner: 'test' })
        return store.append(conversation, epoch, [covered('one', id, 'uma')])
      })
      const ends = await Promise.allSettled(uses)
      const failed = ends.filter(({ status }) => status === 'rejected')
      assert.equal(failed.length, 2)
      for (const end of failed) {
        assert.equal((end as { reason: { code?: string } }).reason.code, 'E_GRANT_STATE')
      }
      const [used] = await store.grants({ subject: 'uma' })
      assert.deepEqual([used?.used, used?.uses], [3, 3])
      assert.equal(await store.grantFor(call({ subject: 'uma' })), undefined)
      const lengths = names.map(async (name) => (await store.conversation(name))?.length)
      assert.equal((await Promise.all(lengths)).filter((length) => length === 1).length, 3)
    },
  },
  {
    name: 'counts the uses of one append, all or none',
    async run({ store }) {
      const { epoch, grant } = await granting(store)
      const id = await grant({ for: 'conversation', uses: 1 })
      const both = store.append('c', epoch, [covered('a', id), covered('b', id)])
      await rejectsWith('E_GRANT_STATE', both)
      assert.equal((await store.grants())[0]?.used, 0)
      await store.append('c', epoch, [covered('a', id)])
      assert.equal((await store.grants())[0]?.used, 1)
      await rejectsWith('E_GRANT_STATE', store.append('c', epoch, [covered('b', 'none')]))
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
    },
  },
  {
    name: 'ends a grant when it is revoked and when its time is over',
    async run({ store, clock, again }) {
      const { epoch, grant } = await granting(store)
      const first = await grant({ for: 'conversation' })
      const other = (await again?.()) ?? store
      const revoked = await other.revokeGrant(first, { decidedBy: 'bob' })
      assert.deepEqual([revoked.revokedAt, revoked.revokedBy], [clock.now(), 'bob'])
      assert.deepEqual(await store.revokeGrant(first, { decidedBy: 'eve' }), revoked)
      assert.equal(await store.grantFor(call()), undefined)
      await rejectsWith('E_GRANT_STATE', store.append('c', epoch, [covered('a', first)]))
      const second = await grant({ for: 'conversation', until: clock.now() + HOUR })
      assert.equal(idOf(await store.grantFor(call())), second)
      clock.advance(HOUR)
      assert.equal(await store.grantFor(call()), undefined)
      await rejectsWith('E_GRANT_STATE', store.append('c', epoch, [covered('b', second)]))
      assert.deepEqual(
        (await store.grants()).map(({ id }) => id),
        [first, second],
      )
      await rejectsWith('E_NOT_FOUND', store.revokeGrant('none', { decidedBy: 'bob' }))
      await rejectsWith('E_INVALID_STORE_INPUT', store.revokeGrant(first, { decidedBy: '' }))
    },
  },
  {
    name: 'lists grants by whom they hold for and by tool, page by page',
    async run({ store }) {
      const { grant } = await granting(store)
      const ids: string[] = []
      for (const subject of ['uma', 'ulf', 'uma', 'uma']) {
        ids.push(await grant({ for: 'subject', subject, args: {} }))
      }
      const own = await grant({ for: 'conversation' })
      const [a, b, c, d] = ids
      const listed = async (query?: Parameters<Store['grants']>[0]) =>
        (await store.grants(query)).map(({ id }) => id)
      assert.deepEqual(await listed(), [...ids, own])
      assert.deepEqual(await listed({ subject: 'uma' }), [a, c, d])
      assert.deepEqual(await listed({ subject: 'uma', limit: 2 }), [a, c])
      assert.deepEqual(await listed({ subject: 'uma', after: c as string }), [d])
      assert.deepEqual(await listed({ subject: 'ulf', tool: 'add' }), [b])
      assert.deepEqual(await listed({ conversation: 'c' }), [own])
      assert.deepEqual(await listed({ tool: 'sub' }), [])
      await rejectsWith('E_NOT_FOUND', store.grants({ after: 'none' }))
      await rejectsWith('E_INVALID_STORE_INPUT', store.grants({ tools: 'add' } as object))
    },
  },
  {
    name: 'refuses a grant that does not fit its decision, and decides nothing',
    async run({ store, clock }) {
      const { epoch } = await granting(store)
      const request = { args: { n: 1 }, context: { definition } }
      const trust = { ...request, because: 'trust' } as const
      await store.append('c', epoch, [
        sample.gateOpened('t', 'g', request),
        sample.gateOpened('t', 'tainted', trust),
        sample.gateOpened('t', 'old', { args: { n: 1 } }),
      ])
      const given: NewGrant = { for: 'conversation' }
      const wrong: readonly (readonly [string, unknown, object?])[] = [
        ['g', given, { verdict: 'denied' }],
        ['g', given, { verdict: 'edited', args: { n: 2 } }],
        ['g', { for: 'everyone' }],
        ['g', { for: 'subject' }],
        ['g', { ...given, subject: 'uma' }],
        ['g', { ...given, args: { n: 2 } }],
        ['g', { ...given, args: { m: 1 } }],
        ['g', { ...given, args: [1] }],
        ['g', { ...given, uses: 0 }],
        ['g', { ...given, uses: 1.5 }],
        ['g', { ...given, until: clock.now() }],
        ['g', { ...given, tainted: 'yes' }],
        ['g', { ...given, forever: true }],
        ['g', 'all'],
        ['tainted', given],
        ['old', given],
      ]
      for (const [gate, grant, more] of wrong) {
        const decision = { verdict: 'approved', decidedBy: 'ada', grant, ...more }
        const decided = store.decideGate(
          'c',
          gate,
          decision as { verdict: 'approved'; decidedBy: '' },
        )
        await rejectsWith('E_INVALID_STORE_INPUT', decided)
      }
      assert.deepEqual(await store.grants(), [])
      assert.equal(
        (await store.openGates('c')).every(({ state }) => state === 'pending'),
        true,
      )
    },
  },
  {
    name: 'deletes the grants that were given in a conversation with it, and imports none',
    async run({ store }) {
      const { epoch, grant } = await granting(store)
      const id = await grant({ for: 'subject', subject: 'uma' })
      const extra = { approvedBy: { grant: id } }
      await store.append('c', epoch, [
        sample.turnStart('t'),
        covered('a', id, 'uma'),
        sample.settlement('t', 'a', { args: { n: 1, to: 'ann' }, extra }),
        sample.gateClosed('t', 'g1', 'consumed'),
        sample.turnEnd('t'),
      ])
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
      const lines: string[] = []
      for await (const line of store.export('c')) lines.push(line)
      await store.import(lines, { conversation: 'd' })
      assert.equal(await store.delete('c'), true)
      assert.deepEqual(await store.grants(), [])
      assert.equal(await store.grantFor(call({ subject: 'uma' })), undefined)
      const record = await store.get('d', 'settlement', 'a')
      const intent = await store.get('d', 'intent', 'a')
      const closing = await store.get('d', 'gate-closed', 'g1')
      assert.deepEqual(
        [record?.data['approvedBy'], intent?.data.approvedBy, intent?.data.covered],
        [undefined, undefined, undefined],
      )
      assert.equal(closing?.data.decision?.grant, undefined)
      assert.deepEqual((await store.verify({ conversation: 'd' })).faults, [])
    },
  },
]
