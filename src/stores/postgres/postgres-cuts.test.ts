import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cuttingProxy } from '../../../test/postgres/cutting-proxy.ts'
import { type EmbeddedServer, embeddedServer } from '../../../test/postgres/embedded-server.ts'
import { allEntries } from '../../testing/store/store-check.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'
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
        const { seq } = await store.append('c', epoch, entries, [blob])
        ids.push(id, 'end')
        expect(seq).toBe(ids.length - 1)
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

  it('takes and deletes a conversation once, wherever it breaks off', async () => {
    const proxy = await cuttingProxy(server.url)
    const store = postgresStore({ url: proxy.url, schema: newSchema(), connections: 1 })
    await store.conversations()
    for (let message = 1; message < 40; message++) {
      const name = `c${message}`
      proxy.set({ message, side: 'unanswered' })
      const lease = await store.acquire(name, { owner: 'test' })
      expect(lease).toMatchObject({ epoch: 1, created: true })
      if (!proxy.wasCut) break
      proxy.set({ message, side: 'unanswered' })
      expect(await store.acquire(name, { owner: 'test', force: true })).toMatchObject({ epoch: 2 })
      proxy.set({ message, side: 'unanswered' })
      expect(await store.delete(name)).toBe(true)
      expect(await store.conversation(name)).toBeUndefined()
    }
    expect((await store.conversations()).length).toBe(1)
    await store.close()
    await proxy.close()
  })

  it('forks a conversation once, wherever it breaks off', { timeout: 60_000 }, async () => {
    const proxy = await cuttingProxy(server.url)
    const store = postgresStore({ url: proxy.url, schema: newSchema(), connections: 1 })
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const entries = [sample.turnStart('t'), sample.settlement('t', 'a'), sample.turnEnd('t')]
    await store.append('c', epoch, entries, [new TextEncoder().encode('a result')])
    let forks = 0
    for (let message = 1; message < 60; message++) {
      proxy.set({ message, side: 'unanswered' })
      const to = `f${message}`
      expect(await store.fork('c', { to })).toMatchObject({ id: to, length: 3 })
      forks++
      expect((await store.verify({ conversation: to })).faults).toEqual([])
      if (!proxy.wasCut) break
    }
    expect(forks).toBeGreaterThan(10)
    expect((await store.conversations()).length).toBe(forks + 1)
    await store.close()
    await proxy.close()
  })

  it.each([
    ['before it has begun', 'BEGIN', 'unsent', 'Nothing was changed'],
    ['before its commit is sent', 'COMMIT', 'unsent', 'may have been stored or not'],
    ['before its commit is answered', 'COMMIT', 'unanswered', 'may have been stored or not'],
  ] as const)(
    'says what is known when it breaks off for good %s',
    async (_, message, side, known) => {
      const schema = newSchema()
      const proxy = await cuttingProxy(server.url)
      const store = postgresStore({ url: proxy.url, schema, connections: 1, retryTimeoutMs: 100 })
      const { epoch } = await store.acquire('c', { owner: 'test' })
      proxy.set({ message, side, isLast: true })
      const append = store.append('c', epoch, [sample.message('t', 'm')])
      await expect(append).rejects.toMatchObject({
        code: 'E_STORE_UNAVAILABLE',
        message: expect.stringContaining(known),
        data: { reason: 'disconnected' },
      })
      const direct = postgresStore({ url: server.url, schema, connections: 1 })
      expect(await direct.conversation('c')).toMatchObject({ length: side === 'unsent' ? 0 : 1 })
      await Promise.all([store.close(), direct.close()])
      await proxy.close()
    },
  )
})
