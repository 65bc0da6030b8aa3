import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedServer, embeddedServer } from '../../../test/postgres/embedded-server.ts'
import type { Store } from '../../store/store.ts'
import { allEntries } from '../../testing/store/store-check.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { postgresStore } from './postgres-store.ts'

let server: EmbeddedServer
let admin: Sql
let schemas = 0
const newSchema = () => `faults_${++schemas}`

beforeAll(async () => {
  server = await embeddedServer()
  admin = postgres(server.url, { max: 3, onnotice: () => undefined })
}, 60_000)
afterAll(async () => {
  await admin.end({ timeout: 1 })
  await server.remove()
}, 30_000)

const idsOf = async (store: Store) =>
  (await allEntries(store, 'c')).map(({ data }) => (data as { id?: string }).id)

/** Resolves when a connection waits for a lock; gives its process. */
async function blockedProcess(): Promise<number> {
  for (let i = 0; i < 500; i++) {
    const [row] = await admin`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    if (row !== undefined) return Number(row['pid'])
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('no transaction waits for a lock')
}

/** Locks the conversation against everybody else while `act` runs. */
function whileLocked(schema: string, act: () => Promise<void>): Promise<unknown> {
  return admin.begin(async (tx) => {
    await tx.unsafe(`SELECT 1 FROM ${schema}.bobbin_conversations FOR UPDATE`)
    await act()
  })
}

describe('postgresStore', () => {
  it('stores what comes behind any number of reads', { timeout: 60_000 }, async () => {
    const store = postgresStore({ url: server.url, schema: newSchema(), connections: 2 })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const read = () => store.conversation('c')
    await Promise.all(Array.from({ length: 10 }, read))
    const ids: string[] = []
    for (let reads = 185; reads < 210; reads++) {
      const reading = Promise.all(Array.from({ length: reads }, read))
      // Reads reach the client a little later than they are asked for.
      for (let i = 0; i < 10; i++) await Promise.resolve()
      ids.push(`m${reads}`)
      await store.append('c', epoch, [sample.message('t', `m${reads}`)])
      await reading
    }
    expect(await idsOf(store)).toEqual(ids)
    await store.close()
  })

  it.each(['url', 'client'] as const)(
    'stores again what was under way on a connection that the server ended: by %s',
    async (by) => {
      const schema = newSchema()
      const client = postgres(server.url, { max: 2, onnotice: () => undefined })
      const store = postgresStore({
        ...(by === 'url' ? { url: server.url, connections: 2 } : { client }),
        schema,
      })
      const { epoch } = await store.acquire('c', { owner: 'test' })
      let append: Promise<unknown> | undefined
      await whileLocked(schema, async () => {
        append = store.append('c', epoch, [sample.message('t', 'm1')])
        await admin`SELECT pg_terminate_backend(${await blockedProcess()})`
      })
      await append
      await store.append('c', epoch, [sample.message('t', 'm2')])
      expect(await idsOf(store)).toEqual(['m1', 'm2'])
      await store.close()
      await client.end({ timeout: 1 })
    },
  )

  it('tries again when it was chosen to end a deadlock', async () => {
    const schema = newSchema()
    const store = postgresStore({ url: server.url, schema, connections: 2 })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    let append: Promise<unknown> | undefined
    await admin.begin(async (tx) => {
      await tx`SET LOCAL deadlock_timeout = '1min'`
      // The blob that the append will add, and then the conversation that it has locked by then.
      await tx.unsafe(`LOCK TABLE ${schema}.bobbin_blobs`)
      append = store.append('c', epoch, [sample.message('t', 'm1')], [new Uint8Array([1])])
      await blockedProcess()
      await tx.unsafe(`SELECT 1 FROM ${schema}.bobbin_conversations FOR UPDATE`)
    })
    await append
    expect(await idsOf(store)).toEqual(['m1'])
    await store.close()
  })

  it('waits for a connection that the server has no room for yet', async () => {
    await admin.unsafe("CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 1")
    await admin.unsafe('GRANT CREATE ON DATABASE postgres TO few')
    const url = server.url.replace('bobbin:bobbin', 'few:few')
    const schema = newSchema()
    const first = postgresStore({ url, schema, connections: 1 })
    await first.conversations()
    const second = postgresStore({ url, schema, connections: 1 })
    const acquired = second.acquire('c', { owner: 'test' })
    await new Promise((resolve) => setTimeout(resolve, 200))
    await first.close()
    await expect(acquired).resolves.toMatchObject({ epoch: 1 })
    await second.close()
  })

  it('continues after a restart of the server', { timeout: 60_000 }, async () => {
    const store = postgresStore({
      url: server.url,
      schema: newSchema(),
      connections: 2,
      retryTimeoutMs: 30_000,
    })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await server.stop()
    const appended = store.append('c', epoch, [sample.message('t', 'm1')])
    const read = store.conversation('c')
    await server.start()
    await appended
    await expect(read).resolves.toMatchObject({ id: 'c' })
    expect(await idsOf(store)).toEqual(['m1'])
    await store.close()
  })
})
