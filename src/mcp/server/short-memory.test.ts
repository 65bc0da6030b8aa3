import { describe, expect, it } from 'vitest'
import { clientOf, plain } from '../../../test/mcp/serving.ts'
import type { Store } from '../../store/store.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { mcpServer } from './mcp-server.ts'
import { shortMemory } from './short-memory.ts'

/** A tool whose results are large, and all different. */
function large() {
  let calls = 0
  return plain('large', () => `${(calls += 1)} `.repeat(50_000), { effect: 'read', inline: false })
}

/** Makes a call, as the server does. */
async function called(store: Store, tool: ReturnType<typeof large>): Promise<string> {
  const runner = new TurnRunner({
    store,
    tools: [tool],
    executor: async ({ turnToolCalls }) =>
      turnToolCalls.length > 0 ? { answer: 'Done.' } : { calls: [{ tool: 'large', args: {} }] },
  })
  return (await runner.run({ message: 'Go.' })).conversation
}

async function digestsOn({ spool }: Store): Promise<readonly string[]> {
  const digests: string[] = []
  for await (const digest of spool?.digests() ?? []) digests.push(digest)
  return digests
}

describe('shortMemory', () => {
  it('forgets old calls with their bytes', async () => {
    const { store, remember } = shortMemory()
    const tool = large()
    for (let calls = 0; calls < 241; calls += 1) {
      remember(await called(store, tool), Date.now() + 1_000)
    }
    await expect.poll(async () => (await store.conversations({ limit: 1_000 })).length).toBe(200)
    await expect.poll(async () => (await digestsOn(store)).length).toBeLessThanOrEqual(201)
  }, 30_000)

  it('keeps bytes that a call which runs may have written', async () => {
    const { store, remember } = shortMemory()
    const since = Date.now()
    const written = await store.spool?.write('no record yet')
    for (let calls = 0; calls < 220; calls += 1) remember(`call-${calls}`, since)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await digestsOn(store)).toEqual([written?.digest])
    for (let calls = 0; calls < 20; calls += 1) remember(`more-${calls}`, Date.now() + 1_000)
    await expect.poll(() => digestsOn(store)).toEqual([])
  })
})

describe('a server without a store', () => {
  it('remembers the last 200 results', async () => {
    const server = mcpServer({ tools: [large()] })
    const client = await clientOf(server)
    const links: string[] = []
    for (let calls = 0; calls < 202; calls += 1) {
      const { content } = await client.callTool({ name: 'large' })
      links.push((content as { uri: string }[])[0]?.uri ?? '')
    }
    const read = (link = '') => client.readResource({ uri: `${link}?end=1` })
    for (const link of links.slice(0, 2)) await expect(read(link)).rejects.toThrow('not found')
    for (const link of [links[2], links.at(-1)]) expect((await read(link)).contents).toHaveLength(1)
    await client.close()
    await server.close()
  }, 30_000)
})
