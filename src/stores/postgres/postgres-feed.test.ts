import { afterAll, beforeAll } from 'vitest'
import { followChecks } from '../../../test/follow-checks.ts'
import { type EmbeddedServer, embeddedServer } from '../../../test/postgres/embedded-server.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { postgresStore } from './postgres-store.ts'

let server: EmbeddedServer
beforeAll(async () => {
  server = await embeddedServer()
}, 60_000)
afterAll(() => server.remove(), 30_000)

let opened = 0
const spool = { ...memorySpool(), durable: true }

followChecks({
  name: 'two connections to PostgreSQL',
  async open() {
    const options = { url: server.url, schema: `feed_${opened++}`, connections: 2, spool }
    return [postgresStore(options), postgresStore(options)]
  },
})
