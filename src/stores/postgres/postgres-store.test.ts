import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedServer, embeddedServer } from '../../../test/postgres/embedded-server.ts'
import { runs } from '../../../test/runs.ts'
import { allEntries } from '../../testing/store/store-check.ts'
import { storeConformance } from '../../testing/store/store-conformance.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
import { postgresStore } from './postgres-store.ts'

let server: EmbeddedServer
let schemas = 0
const newSchema = () => `check_${++schemas}`

beforeAll(async () => {
  server = await embeddedServer()
}, 60_000)
afterAll(() => server.remove(), 30_000)

describe('postgresStore', () => {
  const checks = storeConformance((options) => {
    const where = { ...options, url: server.url, schema: newSchema(), connections: 4 }
    return { store: postgresStore(where), again: () => postgresStore(where) }
  })
  for (const { name, run } of checks) it(name, run)

  it('takes many conversations at once and loses and doubles nothing', {
    timeout: 120_000,
  }, async () => {
    const store = postgresStore({ url: server.url, schema: newSchema(), connections: 20 })
    const shared = new TextEncoder().encode('the same result everywhere')
    const names = Array.from({ length: runs(200) }, (_, i) => `conversation ${i}`)
    await Promise.all(
      names.map(async (name) => {
        const { epoch } = await store.acquire(name, { owner: 'test' })
        for (let i = 0; i < 5; i++) {
          await store.append(name, epoch, [sample.intent('t', `call_${i}`)])
          await store.append(name, epoch, [sample.settlement('t', `call_${i}`)], [shared])
        }
        await store.append(name, epoch, [sample.turnEnd('t')])
      }),
    )
    expect(await store.count({})).toBe(names.length * 11)
    for (const name of names.filter((_, i) => i % 20 === 0)) {
      expect(await allEntries(store, name)).toHaveLength(11)
      expect((await store.verify({ conversation: name })).faults).toEqual([])
    }
    await store.close()
  })

  it('uses the client that it is given, whatever it renames, and leaves it open', async () => {
    const client = postgres(server.url, { transform: postgres.camel, onnotice: () => undefined })
    const store = postgresStore({ client, schema: newSchema() })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, [sample.turnEnd('t')])
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    await store.close()
    const append = store.append('c', epoch, [sample.note('t', 'n')])
    await expect(append).rejects.toMatchObject({ data: { reason: 'closed' } })
    expect(await client`SELECT 1 AS one`).toEqual([{ one: 1 }])
    await client.end()
  })

  it('refuses a schema from a newer version, and an invalid name', async () => {
    const schema = newSchema()
    const store = postgresStore({ url: server.url, schema })
    await store.acquire('c', { owner: 'test' })
    await store.close()
    const client = postgres(server.url)
    await client.unsafe(`UPDATE ${schema}.bobbin_schema SET version = 99`)
    await client.end()
    const newer = postgresStore({ url: server.url, schema })
    await expect(newer.conversations()).rejects.toMatchObject({ code: 'E_STORE_TOO_NEW' })
    await newer.close()
    expect(() => postgresStore({ url: server.url, schema: 'x"; DROP' })).toThrow('schema')
    expect(() => postgresStore({})).toThrow('either `url` or `client`')
  })

  it('lets two stores migrate at once', async () => {
    const schema = newSchema()
    const stores = [1, 2, 3].map(() => postgresStore({ url: server.url, schema }))
    const listed = await Promise.all(stores.map((store) => store.conversations()))
    expect(listed).toEqual([[], [], []])
    await Promise.all(stores.map((store) => store.close()))
  })

  it('says that the server is gone, and continues without loss when it is back', async () => {
    const where = { url: server.url, schema: newSchema(), connections: 2 }
    const store = postgresStore({ ...where, retryTimeoutMs: 100 })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    await store.append('c', epoch, [sample.message('t', 'm1')])
    await server.stop()
    const gone = { code: 'E_STORE_UNAVAILABLE', data: { reason: 'disconnected' } }
    await expect(store.append('c', epoch, [sample.message('t', 'm2')])).rejects.toMatchObject(gone)
    await expect(allEntries(store, 'c')).rejects.toMatchObject(gone)
    await server.start()
    await store.append('c', epoch, [sample.message('t', 'm2')])
    expect((await allEntries(store, 'c')).map(({ seq }) => seq)).toEqual([1, 2])
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    await store.close()
  })
})
