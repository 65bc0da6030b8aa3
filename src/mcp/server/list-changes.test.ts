import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it } from 'vitest'
import { Tool } from '../../tools/tool.ts'
import { type McpTools, mcpTools } from '../client/mcp-tools.ts'
import { type McpServer, mcpServer } from './mcp-server.ts'

const named = (name: string) =>
  new Tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object' },
    effect: 'read',
    inline: true,
    handler: () => name,
  })

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const transports = {
  stdio: async (server: McpServer) => {
    const [here, there] = InMemoryTransport.createLinkedPair()
    await server.connect(there)
    return here
  },
  HTTP: async (server: McpServer) => {
    const fetch = (url: string | URL, init?: RequestInit) => server.handle(new Request(url, init))
    return new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch })
  },
}

/** The tools of a server, through a client that speaks one protocol. */
async function toolsOf(server: McpServer, era: string, wire: keyof typeof transports) {
  const modern = era === 'modern' && { versionNegotiation: { mode: 'auto' as const } }
  const client = new Client({ name: 'test', version: '1' }, { ...modern })
  await client.connect(await transports[wire](server))
  expect(client.getProtocolEra()).toBe(era)
  const tools = await mcpTools(client)
  open.push(server, tools)
  return tools
}

const namesOf = (tools: McpTools) => [...tools].map(({ name }) => name)

describe('a changed list of tools', () => {
  it.each([
    ['modern', 'stdio'],
    ['modern', 'HTTP'],
    ['legacy', 'stdio'],
    ['legacy', 'HTTP'],
  ] as const)('is told to a client: %s protocol over %s', async (era, wire) => {
    const list = [named('a')]
    const server = mcpServer({ tools: list })
    const tools = await toolsOf(server, era, wire)
    expect(namesOf(tools)).toEqual(['a'])
    list.push(named('b'))
    await expect
      .poll(() => {
        // Told again, because nobody knows when the client's stream is open.
        server.toolsChanged()
        return namesOf(tools)
      })
      .toEqual(['a', 'b'])
  })

  it('passes through a server that offers the tools of another', async () => {
    const list = [named('a')]
    const source = mcpServer({ tools: list })
    const passedOn = mcpServer({ tools: await toolsOf(source, 'modern', 'HTTP') })
    const tools = await toolsOf(passedOn, 'legacy', 'stdio')
    list.push(named('b'))
    await expect
      .poll(() => {
        source.toolsChanged()
        return namesOf(tools)
      })
      .toContain('b')
  })

  it('is told once for all changes of a moment', async () => {
    const server = mcpServer({ tools: [named('a')] })
    const client = new Client({ name: 'test', version: '1' })
    let told = 0
    client.setNotificationHandler('notifications/tools/list_changed', () => void (told += 1))
    await client.connect(await transports.stdio(server))
    open.push(server, client)
    for (let i = 0; i < 1_000; i += 1) server.toolsChanged()
    await client.ping()
    expect(told).toBe(1)
  })

  it('is heard by whoever asks `onChange`, until it is ended', async () => {
    const list = [named('a')]
    const server = mcpServer({ tools: list })
    const tools = await toolsOf(server, 'legacy', 'stdio')
    const heard: string[] = []
    tools.onChange(() => {
      throw new Error('a bad listener')
    })
    const end = tools.onChange(() => heard.push('first'))
    tools.onChange(() => heard.push('second'))
    list.push(named('b'))
    server.toolsChanged()
    await expect.poll(() => heard).toEqual(['first', 'second'])
    end()
    list.push(named('c'))
    server.toolsChanged()
    await expect.poll(() => heard).toEqual(['first', 'second', 'second'])
    expect(() => tools.onChange('x' as never)).toThrow('must be a function')
  })
})
