import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type GateAnswer,
  memoryStore,
  type Store,
  type Tool,
  ToolCall,
  TurnRunner,
} from '../../src/index.ts'
import { conversationKey } from '../../src/store/conversation-key.ts'
import type { VerifyOptions } from '../../src/store/index.ts'
import { fileSpool } from '../../src/stores/fs/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'
import { contentOf, importedContentOf } from './stored-content.ts'
import { book, clerk, pay, transfer } from './stored-tools.ts'

// What earlier versions have written stays as it is: a new version adds a folder, named by the commit that wrote it.
const here = fileURLToPath(new URL('.', import.meta.url))
const versions = readdirSync(here, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? entry.name : [],
)

interface Expected {
  /** When the files are read: leases are over by then, and gates still open. */
  readonly readAt: number
  /** From which the keys that the store does not hold derive; hexadecimal, as they are. */
  readonly secret: string
  readonly keys: Readonly<Record<string, string>>
  readonly stored: Awaited<ReturnType<typeof contentOf>>
  readonly imported: Awaited<ReturnType<typeof importedContentOf>>
}

/** As it is in a file: without members that are `undefined`. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))

let folder: string
let server: EmbeddedServer
let opened = 0
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-stored-'))
  server = await embeddedServer()
}, 60_000)
afterAll(async () => {
  await server.remove()
  rmSync(folder, { recursive: true })
}, 30_000)

describe('the stored files', () => {
  it('are there for every version', () => {
    expect(versions).toEqual(['5640646'])
  })
})

describe.each(versions)('what %s has written', (version) => {
  const file = (name: string) => join(here, version, name)
  const expected = JSON.parse(readFileSync(file('expected.json'), 'utf8')) as Expected
  const clock = { now: () => expected.readAt }

  /** A copy of the files for one test, which may change it. */
  function copied(): string {
    const copy = join(folder, `${++opened}`)
    cpSync(file('store.db.spool'), join(copy, 'store.db.spool'), { recursive: true })
    return copy
  }

  async function inSqlite(): Promise<Store> {
    const path = join(copied(), 'store.db')
    writeFileSync(path, gunzipSync(readFileSync(file('store.db.gz'))))
    return sqliteStore(path, { clock })
  }

  async function inPostgres(): Promise<Store> {
    const spool = fileSpool(join(copied(), 'store.db.spool'))
    const schema = `stored_${opened}`
    const sql = postgres(server.url, { max: 1, onnotice: () => undefined })
    await sql.unsafe(`CREATE SCHEMA ${schema}; SET search_path TO ${schema}`)
    await sql.unsafe(readFileSync(file('postgres.sql'), 'utf8'))
    await sql.end()
    return postgresStore({ url: server.url, schema, spool, clock, connections: 2 })
  }

  /** What was kept outside the store: its seals, and a key that it does not hold. */
  function keptOf(id: string): Pick<VerifyOptions, 'seals' | 'key'> {
    const seals = expected.stored.conversations.find((one) => one.id === id)?.seals ?? []
    const key = expected.keys[id]
    return { seals, ...(key !== undefined && { key: bytesOf(key) }) }
  }

  /** No fault in entries, seals, gates, blobs and spooled bytes. */
  async function expectWhole(store: Store, kept: typeof keptOf = keptOf): Promise<void> {
    for (const { id, length } of await store.conversations()) {
      const report = await store.verify({ conversation: id, ...kept(id) })
      expect(report).toMatchObject({ ok: true, faults: [], entries: length })
    }
  }

  const runnerOn = (store: Store, text: string, tools: Tool[], more: object = {}) =>
    new TurnRunner({ store, tools, model: scriptedModel([[{ text }]]), ...more })

  async function resumed(store: Store, conversation: string, tools: Tool[], answer = {}) {
    const gates = await store.openGates(conversation)
    const decisions = gates
      .filter(({ state }) => state === 'pending')
      .map(({ id }): GateAnswer => ({ gate: id, approve: true, decidedBy: 'bob', ...answer }))
    return runnerOn(store, 'Done.', tools).resume({ conversation, decisions })
  }

  describe.each([
    ['SQLite', inSqlite],
    ['PostgreSQL', inPostgres],
  ])('in %s', (_, open) => {
    let store: Store
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store.close())

    // First: the tests after it go on with what is stored.
    it('is found as it was written, and has no fault', async () => {
      expect(plain(await contentOf(store))).toEqual(expected.stored)
      await expectWhole(store)
    })

    it('has no grants, and its gates do not say for which definition one would hold', async () => {
      expect(await store.grants()).toEqual([])
      const gates = await store.openGates()
      const gate = gates.find(({ from, state }) => from === 'runner' && state === 'pending')
      const grant = { for: 'conversation' } as const
      const decision = { verdict: 'approved', decidedBy: 'bob', grant } as const
      const decided = store.decideGate(gate?.conversation ?? '', gate?.id ?? '', decision)
      await expect(decided).rejects.toThrow(/which definition it is about/)
      expect(await store.grants()).toEqual([])
    })

    it('knows which conversations are those of turns inside calls', async () => {
      const all = expected.stored.conversations.map(({ id }) => id)
      const listed = await store.conversations({ topLevel: true })
      expect(listed.map(({ id }) => id)).toEqual(all.filter((id) => id !== 'agent/c1'))
      await store.setMeta('agent', { title: 'Kept' })
      expect(await store.conversations({ meta: { title: 'Kept' } })).toMatchObject([
        { id: 'agent', meta: { title: 'Kept' } },
      ])
    })

    it('can be forked: every fork has no fault, and sends what its original would send', async () => {
      const key = (id: string) => conversationKey(bytesOf(expected.secret), id)
      for (const { id } of expected.stored.conversations) {
        const own = expected.keys[id] !== undefined
        const fork = await store.fork(id, { to: `fork of ${id}`, ...(own && { key }) })
        const given = own && { key: key(fork.id) }
        const report = await store.verify({ conversation: fork.id, ...given })
        expect(report).toMatchObject({ ok: true, faults: [], entries: fork.length })
        const keys = [fork.id, id].map((each) =>
          store.envelopeKey(each, own ? key(each) : undefined),
        )
        const [ofFork, ofOriginal] = await Promise.all(keys)
        expect(ofFork).toEqual(ofOriginal)
        await store.delete(fork.id)
      }
    })

    it('has a gate that is answered, and its call runs', async () => {
      expect(await resumed(store, 'waiting', [pay()])).toMatchObject({
        status: 'completed',
        toolCalls: [{ id: 'w1', settlement: 'ok' }],
      })
    })

    it('has a gate that is answered with other arguments', async () => {
      const answer = { args: { to: 'bob', amount: 1 } }
      // A second copy: the gate of the first one is used by now.
      const other = await open()
      const outcome = await resumed(other, 'waiting', [pay()], answer)
      expect(outcome.status).toBe('completed')
      expect(outcome.toolCalls.at(-1)).toMatchObject({
        ...{ id: 'w1~2', editOf: 'w1', settlement: 'ok', args: answer.args },
      })
      await expectWhole(other)
      await other.close()
    })

    it('has a decision that waits for its use', async () => {
      expect(await resumed(store, 'decided', [transfer()])).toMatchObject({
        status: 'completed',
        toolCalls: [{ id: 'd1', settlement: 'ok' }],
      })
    })

    it('has a gate inside a sub-agent that is answered outside', async () => {
      const agent = { model: scriptedModel([[{ text: 'Paid.' }]]), tools: [pay()] }
      expect(await resumed(store, 'agent', [clerk(agent)])).toMatchObject({
        status: 'completed',
        toolCalls: [{ id: 'c1', settlement: 'ok' }],
      })
      const inner = await store.get('agent/c1', 'settlement', 'n1')
      expect(inner?.data['settlement']).toBe('ok')
    })

    it.each(['provider', 'consent'])('has a question of the provider: %s', async (name) => {
      const outcome = await resumed(store, name, [], { approve: false })
      expect(outcome).toMatchObject({
        status: 'completed',
        toolCalls: [{ tool: 'mail', settlement: 'denied', executedBy: 'provider' }],
      })
    })

    it('has a write that was begun: it is in doubt and does not run again', async () => {
      let runs = 0
      const again = transfer({ handler: () => String(++runs) })
      const runner = runnerOn(store, 'Nobody knows.', [again])
      expect(await runner.recover({ conversation: 'crashed' })).toMatchObject({
        status: 'completed',
        text: 'Nobody knows.',
        toolCalls: [{ id: 'x1', settlement: 'in-doubt' }],
      })
      expect(runs).toBe(0)
    })

    it('has an idempotent call that was begun: it runs again, under its key', async () => {
      const keys: string[] = []
      const again = book({ handler: (_args, ctx) => String(keys.push(ctx.idempotencyKey)) })
      const runner = runnerOn(store, 'Booked.', [again])
      const conversation = 'crashed-repeatable'
      expect(await runner.recover({ conversation })).toMatchObject({
        status: 'completed',
        toolCalls: [{ id: 'x1', settlement: 'ok' }],
      })
      expect(keys).toEqual([idempotencyKeyOf(conversation)])
    })

    it('has a conversation whose key derives from a secret of the application', async () => {
      const conversationSecret = bytesOf(expected.secret)
      const go = { conversation: 'own-key', message: 'Go on.' }
      const without = await runnerOn(store, 'No.', []).run(go)
      expect(without.reason).toMatchObject({ errorCode: 'E_STORE_KEY' })
      const outcome = await runnerOn(store, 'Sealed.', [], { conversationSecret }).run(go)
      expect(outcome).toMatchObject({ status: 'completed' })
    })

    it('has long histories that go on, with handles that can still be read', async () => {
      const steps = [
        [{ call: 'artifact_tail', args: { callId: 'log_1', lines: 1 }, id: 'tail_1' }],
        [{ text: 'Read.' }],
      ]
      const model = scriptedModel(steps)
      const runner = new TurnRunner({ store, model })
      const outcome = await runner.run({ conversation: 'calls', message: 'Go on.' })
      expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'ok' }] })
      expect(JSON.stringify(outcome.toolCalls)).toContain('request 1159 failed')
    })

    // Last: what the tests before it have added is as good as what was there.
    it('has no fault when it went on', async () => {
      await expectWhole(store)
      expect(await store.openGates()).toEqual([])
    })
  })

  function idempotencyKeyOf(conversation: string) {
    const stored = expected.stored.conversations.find(({ id }) => id === conversation)
    return stored?.unsettled[0]?.idempotencyKey
  }

  describe('in its exports', () => {
    let store: Store
    beforeAll(async () => {
      store = memoryStore({ clock })
      const names = readdirSync(file('exports'))
      for (const name of names) {
        const text = gunzipSync(readFileSync(join(file('exports'), name))).toString()
        await store.import(text.trimEnd().split('\n'))
      }
    })

    it('is imported, and has no fault', async () => {
      expect(plain(await importedContentOf(store))).toEqual(expected.imported)
      // Keys and seals are new, and the store holds them.
      await expectWhole(store, () => ({}))
    })

    it('waits for nobody: what was asked elsewhere is not answered here', async () => {
      const go = { conversation: 'waiting', message: 'Go on.' }
      const outcome = await runnerOn(store, 'Done.', [pay()]).run(go)
      expect(outcome).toMatchObject({ status: 'completed', toolCalls: [] })
    })

    it('has a write that was begun: it is in doubt', async () => {
      const found = await store.get('crashed', 'settlement', 'x1')
      expect(ToolCall.fromJSON(found?.data)).toMatchObject({ settlement: 'in-doubt' })
      const go = { conversation: 'crashed', message: 'Go on.' }
      const outcome = await runnerOn(store, 'Nobody knows.', [transfer()]).run(go)
      expect(outcome).toMatchObject({ status: 'completed', toolCalls: [] })
      await expectWhole(store, () => ({}))
    })
  })
})
