import { createServer, type Http2Server } from 'node:http2'
import { endpoint } from '@restatedev/restate-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { restateAgent, restateClient } from '../../src/restate/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'
import { type RestateServer, restateServer } from '../restate/restate-server.ts'
import { byHand, sampleTool } from '../turn-samples.ts'

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

  it('retries without an end, but answers what can never succeed', async () => {
    const store = postgresStore({ url: database.url, schema: 'refusals' })
    await serve('Refusing', new TurnRunner({ store, model: scriptedModel([[{ text: 'hi' }]]) }))
    const [node] = engine.nodes
    const service = await (await fetch(`${node?.admin}/services/Refusing`)).json()
    expect(service.retry_policy.max_attempts).toBeGreaterThan(1e9)
    const ask = async (handler: string, key: string, body?: string) => {
      const headers = { 'content-type': 'application/json' }
      const post = { method: 'POST', signal: AbortSignal.timeout(5000) }
      const url = `${node?.ingress}/Refusing/${key}/${handler}`
      const response = await fetch(url, body === undefined ? post : { ...post, body, headers })
      return response.json()
    }
    for (const handler of ['run', 'resume', 'regenerate']) {
      for (const body of [undefined, 'null', '5', '{"body":"no JSON"}']) {
        expect(await ask(handler, 'garbage', body)).toMatchObject({ refused: {} })
      }
      const long = `a%2F${'n'.repeat(600)}`
      expect(await ask(handler, long, '{}')).toMatchObject({ refused: {} })
    }
    const client = restateClient({ ingress: node?.ingress ?? '', name: 'Refusing' })
    for (const conversation of ['.', '..', '\ud800', 'n'.repeat(600)]) {
      await expect(client.run({ conversation, message: 'x' })).rejects.toMatchObject({
        code: expect.stringMatching(/^E_INVALID/),
      })
    }
    expect(await client.run({ conversation: 'garbage', message: 'x' })).toMatchObject({
      text: 'hi',
    })
    await store.close()
  }, 60_000)

  it('aborts the turn of a handle, and none that runs before it', async () => {
    const store = postgresStore({ url: database.url, schema: 'aborts' })
    const [started, go] = [byHand(), byHand()]
    const tools = [
      sampleTool('wait', async () => {
        started.resolve()
        await go.promise
        return 'waited'
      }),
    ]
    const model = scriptedModel([[{ call: 'wait', id: 'a' }], [{ text: 'one' }], [{ text: 'two' }]])
    await serve('Aborting', new TurnRunner({ store, tools, model }))
    const ingress = engine.nodes[0]?.ingress ?? ''
    const client = restateClient({ ingress, name: 'Aborting', store })
    const first = client.run({ conversation: 'c', message: 'go', turnId: 't1' })
    await started.promise
    const second = client.run({ conversation: 'c', message: 'wait', turnId: 't2' })
    second.abort()
    expect(await client.stop({ conversation: 'c', turnId: 't2' })).toBeUndefined()
    await new Promise((resolve) => setTimeout(resolve, 500))
    go.resolve()
    expect(await first).toMatchObject({ status: 'completed', text: 'one' })
    expect(await second).toMatchObject({ status: 'completed', text: 'two' })
    await store.close()
  }, 60_000)
})
