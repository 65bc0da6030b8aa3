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

describe('a server that is closed', () => {
  it('ends its connections', async () => {
    const server = mcpServer({ tools: [] })
    const client = await connected(server)
    const left = new Promise<void>((resolve) => (client.onclose = resolve))
    await server.close()
    await left
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
