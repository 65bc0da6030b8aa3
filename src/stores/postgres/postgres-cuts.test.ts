import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cuttingProxy } from '../../../test/postgres/cutting-proxy.ts'
import { type EmbeddedServer, embeddedServer } from '../../../test/postgres/embedded-server.ts'
import { allEntries } from '../../testing/store-check.ts'
import { storeSamples as sample } from '../../testing/store-samples.ts'
import { postgresStore } from './postgres-store.ts'

let server: EmbeddedServer
let schemas = 0
const newSchema = () => `cuts_${++schemas}`

beforeAll(async () => {
  server = await embeddedServer()
}, 60_000)
afterAll(() => server.remove(), 30_000)

describe('postgresStore, when its connection breaks off', () => {
  it('stores once, wherever the connection breaks off', { timeout: 60_000 }, async () => {
    const proxy = await cuttingProxy(server.url)
    const store = postgresStore({ url: proxy.url, schema: newSchema(), connections: 1 })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const ids: string[] = []
    const blob = new TextEncoder().encode('a result')
    for (const side of ['unsent', 'unanswered'] as const) {
      for (let message = 1; message < 40; message++) {
        const id = `${side} ${message}`
        proxy.set({ message, side })
        const entries = [sample.settlement('t', id), sample.turnEnd('t')]
        const [first] = await store.append('c', epoch, entries, [blob])
        ids.push(id, 'end')
        expect(first?.seq).toBe(ids.length - 1)
        if (!proxy.wasCut) break
      }
    }
    const stored = await allEntries(store, 'c')
    expect(stored.map(({ data }) => (data as { id?: string }).id ?? 'end')).toEqual(ids)
    expect(ids.length).toBeGreaterThan(30)
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    await store.close()
    await proxy.close()
  })

  it('says that it does not know when the answer to a commit was lost and it cannot find out', async () => {
    const proxy = await cuttingProxy(server.url)
    const store = postgresStore({ url: proxy.url, schema: newSchema(), connections: 1 })
    await store.conversations()
    const errors: string[] = []
    for (let message = 1; message < 40; message++) {
      proxy.set({ message, side: 'unanswered' })
      await store.acquire(`c${message}`, { owner: 'test' }).catch((error: Error) => {
        expect(error).toMatchObject({
          code: 'E_STORE_UNAVAILABLE',
          data: { reason: 'disconnected' },
        })
        errors.push(error.message)
      })
      if (!proxy.wasCut) break
    }
    expect(errors).toEqual([expect.stringContaining('may have been stored or not')])
    await store.close()
    await proxy.close()
  })
})
