import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it } from 'vitest'
import { inputRequired } from '../../tools/person-request.ts'
import { Tool } from '../../tools/tool.ts'
import { HttpSessions } from './http-sessions.ts'
import { type McpServer, type McpServerOptions, mcpServer } from './mcp-server.ts'
import { loadSdk } from './sdk.ts'

const book = new Tool({
  name: 'book',
  description: 'Books a room.',
  inputSchema: { type: 'object' },
  handler: (_, { input }) =>
    input === undefined
      ? inputRequired({
          message: 'Which city?',
          schema: { type: 'object', properties: { city: { type: 'string' } } },
        })
      : `booked in ${JSON.stringify(input.value)}`,
})

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const serving = (options: Partial<McpServerOptions> = {}) => {
  const server = mcpServer({ tools: [book], ...options })
  open.push(server)
  return server
}

/** A POST, GET or DELETE of a client that speaks protocol 2025-11-25. */
function sent(body: object | 'GET' | 'DELETE', session?: string): Request {
  const method = typeof body === 'string' ? body : 'POST'
  return new Request('http://localhost/mcp', {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  })
}

const clientInfo = { name: 'test', version: '1' }
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo,
  },
}
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
const CALL = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'book' } }

type Handle = (request: Request) => Promise<Response | undefined>

async function begun(handle: Handle): Promise<string> {
  const response = await handle(sent(INITIALIZE))
  await response?.text()
  const id = response?.headers.get('mcp-session-id') ?? ''
  await handle(sent(INITIALIZED, id))
  return id
}

/** The next message of a stream of events. */
async function nextMessage(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<unknown> {
  let text = ''
  for (let reads = 0; reads < 100 && !text.endsWith('\n\n'); reads += 1) {
    text += new TextDecoder().decode((await reader.read()).value)
  }
  return JSON.parse(text.replace(/^[\s\S]*data: /, ''))
}

const readerOf = (response: Response) => {
  if (response.body === null) throw new Error('no body')
  return response.body.getReader()
}

describe('a session of an older protocol over HTTP', () => {
  it('lets the server ask, over real sockets', async () => {
    const { url } = await overSockets(serving())
    const client = new Client(clientInfo, { capabilities: { elicitation: { form: {} } } })
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { city: 'Oslo' },
    }))
    await client.connect(new StreamableHTTPClientTransport(url))
    open.push(client)
    expect(client.getProtocolEra()).toBe('legacy')
    const result = await client.callTool({ name: 'book' })
    expect(result.content).toMatchObject([{ text: 'booked in {"city":"Oslo"}' }])
  })

  it('takes no answer from another session', async () => {
    const server = serving()
    const [one, two] = [await begun(server.handle), await begun(server.handle)]
    const stream = readerOf(await server.handle(sent(CALL, one)))
    const { id } = (await nextMessage(stream)) as { id: number }
    const answer = (city: string) => ({
      jsonrpc: '2.0',
      id,
      result: { action: 'accept', content: { city } },
    })
    await server.handle(sent(answer('nowhere'), two))
    await server.handle(sent(answer('Oslo'), one))
    expect(await nextMessage(stream)).toMatchObject({
      id: 3,
      result: { content: [{ text: 'booked in {"city":"Oslo"}' }] },
    })
  })

  it('ends with DELETE', async () => {
    const server = serving()
    const id = await begun(server.handle)
    expect((await server.handle(sent(LIST, id))).status).toBe(200)
    expect((await server.handle(sent('DELETE', id))).status).toBe(200)
    expect((await server.handle(sent(LIST, id))).status).toBe(404)
  })

  it('has an id that nobody else gets, and no other id is one', async () => {
    const server = serving()
    const ids = [await begun(server.handle), await begun(server.handle)]
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(ids).size).toBe(2)
    for (const id of ['', 'x', '__proto__', crypto.randomUUID()]) {
      expect((await server.handle(sent(LIST, id))).status).toBe(404)
    }
  })

  it('is not needed for a request that stands for itself', async () => {
    const response = await serving().handle(sent(LIST))
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null])
    expect(await response.text()).toContain('"book"')
  })

  it('is not begun where sessions are turned off', async () => {
    const server = serving({ sessions: 0 })
    const response = await server.handle(sent(INITIALIZE))
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null])
    expect(await response.text()).not.toContain('listChanged')
    expect((await server.handle(sent(CALL))).status).toBe(200)
  })

  it('is not begun by a wrong request', async () => {
    const { sessions, handle } = await alone()
    const wrong = new Request(sent(INITIALIZE), { headers: { 'content-type': 'text/plain' } })
    expect((await handle(wrong))?.ok).toBe(false)
    expect(sessions.size).toBe(0)
  })

  it('hears of a change that happened while it did not listen', async () => {
    const server = serving()
    const id = await begun(server.handle)
    server.toolsChanged()
    await Promise.resolve()
    const stream = readerOf(await server.handle(sent('GET', id)))
    expect(await nextMessage(stream)).toMatchObject({ method: 'notifications/tools/list_changed' })
  })

  it('is closed with the server', async () => {
    const server = serving()
    const id = await begun(server.handle)
    const stream = readerOf(await server.handle(sent('GET', id)))
    await server.close()
    expect((await stream.read()).done).toBe(true)
    expect((await server.handle(sent(LIST, id))).status).toBe(503)
  })
})

/** Sessions without a server around them, with a clock that tests set. */
async function alone(most = 3) {
  const sdk = await loadSdk()
  const clock = { time: 1_000_000_000, now: () => clock.time }
  const sessions = new HttpSessions({
    most,
    clock,
    serve: ({ Server }) => {
      const server = new Server(clientInfo, { capabilities: { tools: {} } })
      server.setRequestHandler('tools/list', () => ({ tools: [] }))
      // A call that never ends.
      server.setRequestHandler('tools/call', () => new Promise<never>(() => undefined))
      return { server }
    },
  })
  open.push(sessions)
  return { sessions, clock, handle: (request: Request) => sessions.handle(sdk, request) }
}

describe('HttpSessions', () => {
  const status = async (handle: Handle, id: string) => {
    const response = await handle(sent(LIST, id))
    await response?.text()
    return response?.status
  }

  it('ends a session that nobody used for half an hour', async () => {
    const { sessions, clock, handle } = await alone()
    const [used, unused] = [await begun(handle), await begun(handle)]
    clock.time += 20 * 60_000
    expect(await status(handle, used)).toBe(200)
    clock.time += 20 * 60_000
    expect(await status(handle, used)).toBe(200)
    expect(sessions.size).toBe(1)
    expect(await status(handle, unused)).toBe(404)
  })

  it('keeps a session whose client listens', async () => {
    const { clock, handle } = await alone()
    const id = await begun(handle)
    const stream = readerOf((await handle(sent('GET', id))) as Response)
    clock.time += 40 * 60_000
    expect(await status(handle, id)).toBe(200)
    await stream.cancel()
    clock.time += 40 * 60_000
    expect(await status(handle, id)).toBe(404)
  })

  it('ends the one that was unused for longest when there are too many', async () => {
    const { sessions, clock, handle } = await alone(2)
    const first = await begun(handle)
    clock.time += 1
    const second = await begun(handle)
    clock.time += 1
    await status(handle, first)
    const third = await begun(handle)
    expect(sessions.size).toBe(2)
    const found = await Promise.all([first, second, third].map((id) => status(handle, id)))
    expect(found).toEqual([200, 404, 200])
  })

  it('refuses a session rather than end one with a call under way', async () => {
    const { handle } = await alone(1)
    const id = await begun(handle)
    const stream = readerOf((await handle(sent(CALL, id))) as Response)
    const refused = await handle(sent(INITIALIZE))
    expect(refused?.status).toBe(503)
    await stream.cancel()
    expect((await handle(sent(INITIALIZE)))?.status).toBe(200)
  })

  it('makes room when the only call was cancelled', async () => {
    const { handle } = await alone(1)
    const id = await begun(handle)
    const answer = (await handle(sent(CALL, id))) as Response
    const method = 'notifications/cancelled'
    await handle(sent({ jsonrpc: '2.0', method, params: { requestId: CALL.id } }, id))
    expect(await answer.text()).not.toContain('result')
    expect((await handle(sent(INITIALIZE)))?.status).toBe(200)
  })

  it('stays within its bound when thousands come at once', async () => {
    const { sessions, handle } = await alone(10)
    const answers = await Promise.all(
      Array.from({ length: 2_000 }, async () => {
        const response = await handle(sent(INITIALIZE))
        expect(sessions.size).toBeLessThanOrEqual(10)
        await response?.text()
        return response?.status
      }),
    )
    expect(new Set(answers)).toEqual(new Set([200, 503]))
    expect(sessions.size).toBeLessThanOrEqual(10)
  })
})

/** Serves on a port of this machine. */
async function overSockets(server: McpServer): Promise<{ url: URL }> {
  const http = createServer((incoming, outgoing) => {
    const answer = async () => {
      const { method = 'GET', headers, url = '/' } = incoming
      const body = method === 'POST' ? (Readable.toWeb(incoming) as ReadableStream) : null
      const request = new Request(new URL(url, `http://${headers.host}`), {
        method,
        headers: headers as Record<string, string>,
        ...(body && { body, duplex: 'half' }),
      })
      const response = await server.handle(request)
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      for await (const chunk of response.body ?? []) outgoing.write(chunk)
      outgoing.end()
    }
    answer().catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  open.push({
    async close() {
      http.closeAllConnections()
      http.close()
    },
  })
  const { port } = http.address() as AddressInfo
  return { url: new URL(`http://127.0.0.1:${port}/mcp`) }
}
