import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { mcpTools } from './mcp-tools.ts'

it('hears of a changed list on protocol 2026-07-28, where a stream must be asked for', async () => {
  const names = ['a']
  const handler = createMcpHandler(() => {
    const capabilities = { tools: { listChanged: true } }
    const server = new Server({ name: 'changing', version: '1' }, { capabilities })
    server.setRequestHandler('tools/list', () => ({
      tools: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }))
    return server
  })
  const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init))
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL('http://here/mcp'), { fetch }))
  const tools = await mcpTools(client)
  names.push('b')
  await expect
    .poll(() => {
      handler.notify.toolsChanged()
      return [...tools].map(({ name }) => name)
    })
    .toEqual(['a', 'b'])
  await tools.close()
  await handler.close()
})
