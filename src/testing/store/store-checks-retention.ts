import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { memorySpool } from '../../spool/memory-spool.ts'
import { sweepSpool } from '../../store/audit/sweep-spool.ts'
import { redactKeys } from '../../store/rows/redact-keys.ts'
import { allEntries, collected, findAll, rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const settled = (id: string, bytes: Uint8Array) =>
  sample.settlement('t', id, { results: sample.artifact(sha256(bytes), bytes.length) })

/** Small blobs, what refers to what, deletion, redaction, and finding what was tampered with. */
export const storeRetentionChecks: readonly StoreCheck[] = [
  {
    name: 'commits small blobs with their settlement and gives copies back',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const bytes = Uint8Array.from({ length: 64 * 1024 }, (_, i) => i % 256)
      const digest = sha256(bytes)
      const empty = new Uint8Array()
      const entries = [settled('call_1', bytes), settled('call_2', empty)]
      await store.append('c', epoch, entries, [bytes, empty])
      const copy = bytes.slice()
      bytes.fill(0)
      const read = await store.blob(digest)
      assert.ok(read !== undefined && Buffer.from(read).equals(copy))
      read.fill(1)
      assert.equal(sha256((await store.blob(digest)) ?? empty), digest)
      assert.deepEqual(await store.blob(sha256(empty)), empty)
      assert.equal(await store.blob('a'.repeat(64)), undefined)
      await rejectsWith('E_SPOOL_INVALID_NAME', store.blob('../x'))
      const large = store.append('c', epoch, [], [new Uint8Array(64 * 1024 + 1)])
      await rejectsWith('E_INVALID_STORE_INPUT', large)
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
    },
  },
  {
    name: 'keeps the parts of a request once, of any size, as long as a conversation refers to them',
    async run({ store }) {
      const tools = [{ name: 'look', description: 'Looks. '.repeat(20_000) }]
      const data = { id: 'm', iteration: 1, digests: {}, parts: { instructions: 'Hi.', tools } }
      for (const name of ['a', 'b']) {
        const { epoch } = await store.acquire(name, { owner: 'test' })
        await store.append(name, epoch, [{ kind: 'model-call', turnId: 't', data }])
        assert.deepEqual((await store.verify({ conversation: name })).faults, [])
      }
      const text = JSON.stringify(tools)
      const digests = { instructions: sha256(bytesOf('"Hi."')), tools: sha256(bytesOf(text)) }
      const stored = await store.get('a', 'model-call', 'm')
      assert.deepEqual(stored?.data, { id: 'm', iteration: 1, digests })
      assert.deepEqual(await collected(store.digests('b')), Object.values(digests).sort())
      await store.delete('a')
      assert.equal(Buffer.from((await store.blob(digests.tools)) ?? []).toString(), text)
      await store.delete('b')
      assert.equal(await store.blob(digests.tools), undefined)
    },
  },
  {
    name: 'deletes a conversation with what only it refers to',
    async run({ store }) {
      const [own, shared] = [bytesOf('own'), bytesOf('shared')]
      const spooled = 'c'.repeat(64)
      for (const name of ['a', 'b']) {
        const { epoch } = await store.acquire(name, { owner: 'test' })
        const mine = bytesOf(`own of ${name}`)
        const entries = [settled('1', mine), settled('2', shared), sample.gateOpened('t', 'g')]
        await store.append(name, epoch, entries, [mine, shared])
        if (name === 'a') await store.append(name, epoch, [settled('3', own)], [own])
        const reference = sample.artifact(spooled, 1_000_000)
        await store.append(name, epoch, [sample.settlement('t', '4', { results: reference })])
      }
      assert.equal((await collected(store.digests())).length, 5)
      assert.equal(await store.delete('a'), true)
      assert.equal(await store.delete('a'), false)
      assert.equal(await store.blob(sha256(own)), undefined)
      assert.equal(await store.blob(sha256(bytesOf('own of a'))), undefined)
      assert.deepEqual(await store.blob(sha256(shared)), shared)
      const left = [sha256(shared), sha256(bytesOf('own of b')), spooled].sort()
      assert.deepEqual(await collected(store.digests()), left)
      assert.deepEqual(await collected(store.digests('b')), left)
      assert.deepEqual(await allEntries(store, 'a'), [])
      assert.equal(await store.gate('a', 'g'), undefined)
      assert.equal((await store.openGates()).length, 1)
      assert.equal(await store.conversation('a'), undefined)
      const anew = await store.acquire('a', { owner: 'test' })
      assert.deepEqual([anew.created, anew.epoch], [true, 1])
    },
  },
  {
    name: 'shows what comes after a page, though the newest conversations were deleted since',
    async run({ store }) {
      const note = async (conversation: string, id: string) => {
        const { epoch } = await store.acquire(conversation, { owner: 'test', force: true })
        await store.append(conversation, epoch, [sample.note('t', id)])
      }
      for (const name of ['a', 'b', 'c']) await note(name, '1')
      const { next = '' } = await store.find({ limit: 3 })
      const newsOf = async () => {
        const { entries } = await store.find({ after: next })
        return entries.map(({ conversation, entry }) => `${conversation} ${entry.seq}`)
      }
      await store.delete('c')
      await store.delete('b')
      await note('a', '2')
      assert.deepEqual(await newsOf(), ['a 2'])
      await store.delete('a')
      await note('b', '1')
      await note('c', '1')
      assert.deepEqual(await newsOf(), ['b 1', 'c 1'])
    },
  },
  {
    name: 'deletes the conversations of turns inside with the one around them, and no others',
    async run({ store }) {
      const inside = async (id: string, conversation?: string) => {
        const { epoch } = await store.acquire(id, { owner: 'test' })
        const parent = conversation && { parent: { conversation, turnId: 't' } }
        await store.append(id, epoch, [{ kind: 'turn-start', turnId: 't', data: { ...parent } }])
      }
      await inside('a')
      await inside('a/1', 'a')
      await inside('a/1/2', 'a/1')
      await inside('a/someone', undefined)
      await inside('ab')
      await inside('b/1', 'a')
      assert.equal(await store.delete('a'), true)
      const left = (await store.conversations()).map(({ id }) => id)
      assert.deepEqual(left, ['a/someone', 'ab', 'b/1'])
    },
  },
  {
    name: 'refers to blobs and to the spool alike, and sweeps what is no longer referred to',
    async run({ store, clock }) {
      const spool = memorySpool({ clock })
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const small = bytesOf('small')
      const large = await spool.write('large\n'.repeat(20_000))
      await spool.write('forgotten\n'.repeat(20_000))
      const results = [
        sample.artifact(sha256(small), small.length),
        sample.artifact(large.digest, large.byteLength),
      ]
      const entries = results.map((it, i) => sample.settlement('t', `call_${i}`, { results: it }))
      await store.append('c', epoch, entries, [small])
      assert.deepEqual(await store.blob(sha256(small)), small)
      assert.deepEqual(await collected(store.digests('c')), [sha256(small), large.digest].sort())
      assert.deepEqual((await store.verify({ conversation: 'c', spool })).faults, [])
      assert.equal((await store.verify({ conversation: 'c' })).ok, false)
      clock.advance(1)
      assert.equal((await sweepSpool(store, spool, { graceMs: 1, clock })).deleted, 1)
      assert.deepEqual((await store.verify({ conversation: 'c', spool })).faults, [])
      await spool.delete(large.digest)
      const { faults } = await store.verify({ conversation: 'c', spool })
      assert.deepEqual(
        faults.map(({ fault, part, id }) => [fault, part, id]),
        [['deleted', 'spool', large.digest]],
      )
    },
  },
  {
    name: 'stores nothing of what is redacted, and says what was',
    redact: (target) => [
      ...(redactKeys(/^(password|token)$/i)(target) ?? []),
      ...(target.tool === 'secret' && target.kind === 'settlement' ? ['/results'] : []),
      ...(target.kind === 'message' ? ['/content'] : []),
    ],
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test', leaseMs: 1e9 })
      const args = { user: 'ada', list: [{ Token: 'hunter2', 'a/b~c': { password: 'hunter2' } }] }
      const result = bytesOf('hunter2')
      const results = sample.artifact(sha256(result), result.length)
      await store.append(
        'c',
        epoch,
        [
          sample.message('t', 'm', 'my password is hunter2'),
          sample.gateOpened('t', 'g', { args }),
          sample.intent('t', 'call', args, 'secret'),
          sample.settlement('t', 'call', { tool: 'secret', args, results }),
        ],
        [result],
      )
      const edited = { verdict: 'edited', decidedBy: 'ada', args: { password: 'hunter2' } } as const
      await store.decideGate('c', 'g', edited)
      await store.append('c', epoch, [sample.gateClosed('t', 'g', 'consumed'), sample.turnEnd('t')])
      const entries = await allEntries(store, 'c')
      assert.ok(!JSON.stringify(entries).includes('hunter2'))
      assert.ok(!JSON.stringify(await store.gate('c', 'g')).includes('hunter2'))
      assert.equal(await store.blob(sha256(result)), undefined)
      const inArgs = ['/args/list/0/Token', '/args/list/0/a~1b~0c/password']
      const byKind = Object.fromEntries(entries.map(({ kind, redacted }) => [kind, redacted]))
      assert.deepEqual(byKind, {
        message: ['/content'],
        'gate-opened': inArgs,
        intent: inArgs,
        settlement: [...inArgs, '/results'],
        'gate-closed': ['/decision/args/password'],
        'turn-end': undefined,
      })
      const call = await store.get('c', 'settlement', 'call')
      assert.deepEqual(call?.data['redacted'], [...inArgs, '/results'])
      const { data } = sample.settlement('t', 'call', { tool: 'secret', args })
      assert.equal(call?.data['checksum'], (data as { checksum?: unknown }).checksum)
      assert.deepEqual((await store.verify({ conversation: 'c' })).faults, [])
    },
  },
  {
    name: 'refuses to redact what holds the log together',
    redact: ({ kind }) => (kind === 'intent' ? ['/idempotencyKey'] : undefined),
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const intent = store.append('c', epoch, [sample.intent('t', 'call')])
      await rejectsWith('E_INVALID_STORE_INPUT', intent)
    },
  },
  {
    name: 'seals each turn onto the one before, and misses turns whose seal was kept elsewhere',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      const seals: string[] = []
      for (const turn of ['t1', 't2', 't3']) {
        await store.append('c', epoch, [sample.message(turn, `m of ${turn}`)])
        await store.append('c', epoch, [sample.turnEnd(turn)])
        seals.push((await store.conversation('c'))?.seal ?? '')
      }
      assert.equal(new Set(seals).size, 3)
      const ends = await findAll(store, { conversation: 'c', kind: 'turn-end' })
      assert.deepEqual(
        ends.map(({ seal }) => seal),
        seals,
      )
      await store.append('c', epoch, [sample.note('t4', 'after the last seal')])
      const report = await store.verify({ conversation: 'c', seals })
      assert.deepEqual(report, { ok: true, faults: [], truncated: false, entries: 7, sealed: 6 })
      const wrong = await store.verify({ conversation: 'c', seals: [...seals, 'f'.repeat(64)] })
      assert.deepEqual(
        wrong.faults.map(({ fault }) => fault),
        ['seal-missing'],
      )
      const order = await store.verify({ conversation: 'c', seals: [...seals].reverse() })
      assert.equal(order.ok, false)
      await rejectsWith('E_NOT_FOUND', store.verify({ conversation: 'unknown' }))
    },
  },
]
