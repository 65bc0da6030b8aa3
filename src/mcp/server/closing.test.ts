import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it } from 'vitest'
import { clientOf, plain } from '../../../test/mcp/serving.ts'
import { byHand } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { type McpServer, mcpServer } from './mcp-server.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** A connection as over stdio. */
async function connected(server: McpServer): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair()
  await server.connect(there)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(here)
  return client
}

/** A store that takes its time, as disks do, and what it has stored. */
function slowStore() {
  const store = memoryStore()
  const append: Store['append'] = async (...given) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return store.append(...given)
  }
  const kinds = async () => {
    const { entries } = await store.find({})
    return entries.map(({ entry: { kind, data } }) =>
      kind === 'settlement' ? data['settlement'] : kind,
    )
  }
  return { store: { ...store, append }, kinds }
}

/** A write that ends when it is aborted. */
function hanging() {
  const begun = byHand()
  const hang = plain(
    'hang',
    (_, { signal }) => {
      begun.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
    },
    { effect: 'write' },
  )
  return { hang, begun: begun.promise }
}

describe('a call that runs when its server is closed', () => {
  it.each(['modern', 'legacy', 'stdio'])('is stored to its end: %s', async (how) => {
    const { store, kinds } = slowStore()
    const { hang, begun } = hanging()
    const server = mcpServer({ tools: [hang], store })
    const mode = how === 'modern' ? 'auto' : 'legacy'
    const client = await (how === 'stdio'
      ? connected(server)
      : clientOf(server, { versionNegotiation: { mode } }))
    open.push(client)
    client.callTool({ name: 'hang' }).catch(() => undefined)
    await begun
    await server.close()
    const stored = await kinds()
    expect(stored).toContain('in-doubt')
    expect(stored.at(-1)).toBe('turn-end')
  })

  it('is stored to its end inside an agent too', async () => {
    const { store, kinds } = slowStore()
    const { hang, begun } = hanging()
    const agent = new TurnRunner({
      model: scriptedModel([[{ call: 'hang' }]]),
      tools: [hang],
      store,
    })
    const server = mcpServer({ tools: [], agents: { agent } })
    const client = await clientOf(server)
    open.push(client)
    client.callTool({ name: 'agent', arguments: { message: 'Go.' } }).catch(() => undefined)
    await begun
    await server.close()
    const stored = await kinds()
    expect(stored).toContain('in-doubt')
    expect(stored.at(-1)).toBe('turn-end')
  })

  it('does not run after that', async () => {
    const ran: string[] = []
    const server = mcpServer({ tools: [plain('late', () => void ran.push('ran'))] })
    const client = await clientOf(server)
    open.push(client)
    await server.close()
    await client.callTool({ name: 'late' }).catch(() => undefined)
    expect(ran).toEqual([])
  })
})

describe('a server that is closed', () => {
  it('ends its connections', async () => {
    const server = mcpServer({ tools: [] })
    const client = await connected(server)
    const left = byHand()
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is not an event target
    client.onclose = () => left.resolve()
    await server.close()
    await left.promise
    await expect(client.listTools()).rejects.toThrow('onnect')
  })

  it('takes no new connection', async () => {
    const server = mcpServer({ tools: [] })
    await server.close()
    const [, there] = InMemoryTransport.createLinkedPair()
    await expect(server.connect(there)).rejects.toMatchObject({ code: 'E_MCP_UNAVAILABLE' })
  })

  it('takes no connection that was being made', async () => {
    const server = mcpServer({ tools: [] })
    const [, there] = InMemoryTransport.createLinkedPair()
    const connecting = server.connect(there).catch((error: unknown) => error)
    await server.close()
    expect(await connecting).toMatchObject({ message: expect.stringContaining('closed') as string })
  })

  it('listens to its tools no more', async () => {
    const listeners = new Set<() => void>()
    const tools = Object.assign([] as Tool[], {
      onChange(listener: () => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    })
    const server = mcpServer({ tools })
    expect(listeners.size).toBe(1)
    await server.close()
    expect(listeners.size).toBe(0)
  })
})
