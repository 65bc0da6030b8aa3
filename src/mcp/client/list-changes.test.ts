import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { mcpTools } from './mcp-tools.ts'

it.each([
  ['holds', false],
  ['breaks', true],
])('receives changes of a list on protocol 2026-07-28 when their stream %s', async (_, breaks) => {
  const names = ['a']
  const handler = createMcpHandler(() => {
    const capabilities = { tools: { listChanged: true } }
    const server = new Server({ name: 'changing', version: '1' }, { capabilities })
    server.setRequestHandler('tools/list', () => ({
      tools: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }))
    return server
  })
  let streams = 0
  const fetch = async (url: string | URL, init?: RequestInit) => {
    const isStream = typeof init?.body === 'string' && init.body.includes('subscriptions/listen')
    const response = await handler.fetch(new Request(url, init))
    if (!isStream || response.body === null) return response
    streams += 1
    // The first stream ends after the server has taken the subscription.
    return breaks && streams === 1
      ? new Response(await firstEvent(response.body), response)
      : response
  }
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL('http://here/mcp'), { fetch }))
  const tools = await mcpTools(client)
  if (breaks) await expect.poll(() => streams, { timeout: 5_000 }).toBe(2)
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

/** The first event of a stream, alone. */
async function firstEvent(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('acknowledged') && text.endsWith('\n\n')) break
  }
  return text
}
