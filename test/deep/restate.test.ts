import { createServer, type Http2Server } from 'node:http2'
import { endpoint } from '@restatedev/restate-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { restateAgent, restateClient } from '../../src/restate/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'
import { type RestateServer, restateServer } from '../restate/restate-server.ts'
import { sampleTool } from '../turn-samples.ts'

let database: EmbeddedServer
let engine: RestateServer
const open: Http2Server[] = []

beforeAll(async () => {
  ;[database, engine] = await Promise.all([embeddedServer(), restateServer()])
}, 120_000)
afterAll(async () => {
  for (const server of open) server.close()
  await Promise.all([database?.remove(), engine?.remove()])
}, 30_000)

async function serve(name: string, runner: TurnRunner): Promise<void> {
  const server = createServer(endpoint().bind(restateAgent({ name, runner })).http2Handler())
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no address')
  await engine.register(`http://127.0.0.1:${address.port}`, name)
}

describe('an agent on Restate', () => {
  it('runs turns one after the other, once for each id', async () => {
    const store = postgresStore({ url: database.url, schema: 'turns' })
    let ran = 0
    const tools = [
      sampleTool('count', () => {
        ran++
        return `${ran}`
      }),
    ]
    const model = scriptedModel([
      [{ call: 'count', id: 'a' }],
      [{ text: 'one' }],
      [{ text: 'two' }],
    ])
    await serve('Counter', new TurnRunner({ store, tools, model }))
    const client = restateClient({
      ingress: engine.nodes[0]?.ingress ?? '',
      name: 'Counter',
      store,
    })
    const first = client.run({ conversation: 'c', message: 'go', turnId: 't1' })
    const second = client.run({ conversation: 'c', message: 'and on', turnId: 't2' })
    const events: string[] = []
    for await (const { type } of first) events.push(type)
    expect(await first).toMatchObject({ status: 'completed', text: 'one', turnId: 't1' })
    expect((await first).toolCalls).toMatchObject([{ settlement: 'ok' }])
    expect((await first).toolCalls[0]?.results).toBeDefined()
    expect(await second).toMatchObject({ status: 'completed', text: 'two' })
    const again = await client.run({ conversation: 'c', message: 'go', turnId: 't1' })
    expect(again).toMatchObject({ text: 'one' })
    expect(ran).toBe(1)
    expect(events).toContain('turnStart')
    expect(events.at(-1)).toBe('turnEnd')
    expect((await client.history({ conversation: 'c' })).items).toHaveLength(5)
    expect(await client.status({ conversation: 'c' })).toMatchObject({
      exists: true,
      isRunning: false,
    })
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    await store.close()
  }, 60_000)
})
