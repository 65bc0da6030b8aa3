import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { postgresSession } from './postgres-session.ts'

describe('postgresSession', () => {
  it('gives up on a server that accepts connections and ends them at once', async () => {
    const server = createServer((socket) => socket.resume().end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const url = `postgres://nobody@127.0.0.1:${port}/none`
    const session = postgresSession((onclose) => postgres(url, { max: 1, onclose }), 100)
    const read = session.rows('SELECT 1', [])
    await expect(read).rejects.toMatchObject({ code: 'CONNECTION_DESTROYED' })
    expect(session.isLost).toBe(true)
    await session.end()
    server.close()
    await once(server, 'close')
  })
})
