import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { Store } from '../../store/store.ts'
import { allEntries, collected, rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const SMALL = new TextEncoder().encode('small result')
const LARGE = 'a line of a large result\n'.repeat(20_000)

/** A conversation with everything in it that can and cannot travel. */
async function filled(store: Store) {
  const spool = memorySpool()
  const large = await spool.write(LARGE)
  const { epoch } = await store.acquire('origin', { owner: 'test', leaseMs: 1e9 })
  const providerData = { api: 'x', data: { signature: 'secret-state' } }
  const opaque = { id: 'raw', type: 'raw', api: 'x', value: 'secret-state' } as const
  const small = sample.artifact(sha256(SMALL), SMALL.length)
  await store.append(
    'origin',
    epoch,
    [
      sample.turnStart('t'),
      sample.message('t', 'm'),
      { kind: 'history-item', turnId: 't', data: opaque },
      {
        kind: 'thought',
        turnId: 't',
        data: { id: 'th', content: 'hm', createdAt: '2026-01-01T00:00:00.000Z', providerData },
      },
      sample.intent('t', 'call_1'),
      sample.settlement('t', 'call_1', {
        results: small,
        extra: { trust: 'developer', providerData },
      }),
      sample.settlement('t', 'call_2', {
        results: sample.artifact(large.digest, large.byteLength),
      }),
      sample.gateOpened('t', 'used', { context: { opaque: 'secret-state' } }),
      sample.gateOpened('t', 'open'),
      sample.turnEnd('t'),
    ],
    [SMALL],
  )
  await store.decideGate('origin', 'used', { verdict: 'approved', decidedBy: 'ada' })
  await store.append('origin', epoch, [
    sample.gateClosed('t2', 'used', 'consumed'),
    sample.turnEnd('t2'),
  ])
  return { spool, large }
}

/** Export and import as JSON Lines. */
export const storeExchangeChecks: readonly StoreCheck[] = [
  {
    name: 'leaves an import to the runner that took over the conversation',
    async run({ store }) {
      const { spool } = await filled(store)
      const lines = await collected(store.export('origin', { spool }))
      const takenOver = async function* () {
        yield* lines.slice(0, -1)
        await store.acquire('copy', { owner: 'other', force: true })
        yield* lines.slice(-1)
      }
      const importing = store.import(takenOver(), { conversation: 'copy', spool: memorySpool() })
      await rejectsWith('E_STALE_RUNNER', importing)
      assert.ok((await store.conversation('copy')) !== undefined, 'the conversation is still there')
    },
  },
  {
    name: 'exports a conversation and imports it under another name',
    async run({ store }) {
      const { spool, large } = await filled(store)
      const key = Buffer.from(await store.key('origin'))
      const meta = { title: 'The origin', tags: ['a', { b: null }] }
      await store.setMeta('origin', meta)
      const lines = await collected(store.export('origin', { spool }))
      const text = lines.join('\n')
      for (const line of lines) assert.ok(!line.includes('\n') && line.length < 300_000)
      for (const form of ['secret-state', key.toString('hex'), key.toString('base64')]) {
        assert.ok(!text.includes(form), 'neither keys nor foreign state travel')
      }

      const target = memorySpool()
      const report = await store.import(lines, { conversation: 'copy', spool: target })
      assert.deepEqual(report, { conversation: 'copy', entries: 11, artifacts: 2 })
      assert.equal((await target.read(large.digest)).byteLength, LARGE.length)
      assert.deepEqual((await store.conversation('copy'))?.meta, meta)
      assert.deepEqual(
        (await store.conversations({ meta: { title: 'The origin' } })).map(({ id }) => id),
        ['copy', 'origin'],
      )
      assert.notDeepEqual(await store.key('copy'), await store.key('origin'))
      const verified = await store.verify({ conversation: 'copy', spool: target })
      assert.deepEqual(verified.faults, [])

      const before = await allEntries(store, 'origin')
      const after = await allEntries(store, 'copy')
      const kinds = before.map(({ kind }) => kind).filter((kind) => kind !== 'history-item')
      assert.deepEqual(
        after.map(({ kind }) => kind),
        [...kinds, 'gate-closed', 'note'],
      )
      assert.equal((await store.gate('copy', 'open'))?.state, 'abandoned')
      assert.equal((await store.gate('copy', 'used'))?.state, 'consumed')
      assert.deepEqual(await store.openGates('copy'), [])
      assert.equal((await store.get('copy', 'settlement', 'call_1'))?.data['trust'], 'third-party')
      assert.deepEqual(
        (await store.get('copy', 'message', 'm'))?.data,
        (await store.get('origin', 'message', 'm'))?.data,
      )
      assert.equal((await store.acquire('copy', { owner: 'test' })).created, false)
    },
  },
  {
    name: 'imports nothing when a line is wrong, missing or hostile',
    async run({ store }) {
      const { spool } = await filled(store)
      const lines = await collected(store.export('origin', { spool }))
      const changed = (from: string, to: string) => lines.map((line) => line.replace(from, to))
      const own = await store.key('origin')
      const hostile: Record<string, string[]> = {
        'an empty file': [],
        'no header': lines.slice(1),
        'no end': lines.slice(0, -1),
        'more after the end': [...lines, lines.at(-1) ?? ''],
        'a line that is not JSON': [...lines.slice(0, 3), '{"entry":', ...lines.slice(3)],
        'an entry less than counted': lines.filter((line) => !line.includes('"turn-start"')),
        'a changed artifact': changed(Buffer.from(SMALL).toString('base64'), 'AAAAAAAAAAAAAAAA'),
        'a chunk that is not base64': changed(Buffer.from(SMALL).toString('base64'), '%%%%'),
        'a changed argument': changed('"args":{"n":1}', '"args":{"n":2}').map((line) =>
          line.replace('"args":{"n":1}', '"args":{"n":2}'),
        ),
        'an unknown kind': changed('"kind":"turn-start"', '"kind":"turn-begin"'),
        'an unknown version': changed('"v":1', '"v":99'),
        'metadata that is a list': changed('"v":1', '"v":1,"meta":["title"]'),
        'metadata that is too large': changed(
          '"v":1',
          `"v":1,"meta":{"t":"${'x'.repeat(20_000)}"}`,
        ),
        'a provider item': changed('"kind":"turn-start"', '"kind":"history-item"'),
        'an artifact of another export': lines.filter((line) => !/"(artifact|chunk)":/.test(line)),
      }
      for (const [what, file] of Object.entries(hostile)) {
        const importing = store.import(file, { conversation: 'copy', spool: memorySpool() })
        await rejectsWith('E_INVALID_IMPORT', importing).catch((error: unknown) => {
          throw new Error(`${what}: ${String(error)}`, { cause: error })
        })
        assert.equal(await store.conversation('copy'), undefined, what)
      }
      await rejectsWith('E_CONVERSATION_EXISTS', store.import(lines, { spool: memorySpool() }))
      assert.deepEqual(await store.key('origin'), own)
      await rejectsWith('E_NOT_FOUND', collected(store.export('unknown')))
    },
  },
]
