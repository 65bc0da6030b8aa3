import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { allEntries } from '../../src/testing/store/store-check.ts'
import { storeSamples as sample } from '../../src/testing/store/store-samples.ts'
import { cuttingProxy } from '../postgres/cutting-proxy.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'

let server: EmbeddedServer
beforeAll(async () => {
  server = await embeddedServer()
}, 60_000)
afterAll(() => server.remove(), 30_000)

describe('postgresStore', () => {
  it('takes a conversation from a machine that fell silent inside a transaction', async () => {
    const proxy = await cuttingProxy(server.url)
    const silent = postgresStore({ url: proxy.url, schema: 'silence', connections: 1 })
    const { epoch } = await silent.acquire('c', { owner: 'silent' })
    await silent.append('c', epoch, [sample.message('t', 'm1')])
    // BEGIN, then the lock on the conversation, then silence.
    proxy.set({ message: 3, side: 'silent' })
    const lost = silent
      .append('c', epoch, [sample.message('t', 'm2')])
      .catch((error: unknown) => error)
    await expect.poll(() => proxy.wasCut).toBe(true)
    const other = postgresStore({ url: server.url, schema: 'silence', connections: 1 })
    const start = performance.now()
    const taken = await other.acquire('c', { owner: 'other', force: true })
    const seconds = (performance.now() - start) / 1000
    expect(taken.epoch).toBe(epoch + 1)
    // It did have to wait for the lock: otherwise nothing was shown.
    expect(seconds).toBeGreaterThan(10)
    await other.append('c', taken.epoch, [sample.message('t', 'm2')])
    expect((await allEntries(other, 'c')).map(({ seq }) => seq)).toEqual([1, 2])
    expect(await lost).toMatchObject({ code: 'E_STALE_RUNNER' })
    await Promise.all([silent.close(), other.close()])
    await proxy.close()
  }, 120_000)
})
