import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, Server as McpSdkServer } from '@modelcontextprotocol/server'
import { afterEach, describe, expect, it } from 'vitest'
import { SILENT, serverWith, toolNamed, type WireMessage } from '../../../test/mcp/wire-server.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { mcpClient } from './mcp-client.ts'
import { type McpTools, mcpTools } from './mcp-tools.ts'

const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

let home: Server | undefined
afterEach(() => {
  home?.closeAllConnections()
  home?.close()
  home = undefined
})

/** Makes calls at once in a turn, and gives how they ended. */
async function settled(tools: McpTools, ...names: string[]) {
  const runner = new TurnRunner({
    tools: () => tools,
    policy: 'open',
    executor: async ({ turnToolCalls }) =>
      turnToolCalls.length > 0
        ? { answer: '' }
        : { calls: names.map((tool) => ({ tool, args: {} })) },
  })
  const { toolCalls } = await runner.run({ message: 'Go.' })
  return toolCalls.map(({ settlement }) => settlement)
}

interface Exchange {
  readonly message: WireMessage
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** A server over HTTP, protocol 2025-11-25, with the tools `t` and `u`. `answer` gives false for what it leaves to others. */
async function served(answer: (exchange: Exchange) => unknown): Promise<string> {
  home = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const message = JSON.parse(body === '' ? '{}' : body) as WireMessage
      const isDone = (await answer({ message, request, response })) ?? response.writableEnded
      if (isDone !== false) return
      const known = OF_EVERY_SERVER[message.method ?? '']
      if (known !== undefined) reply(response, message, known)
      else if (message.id !== undefined) response.writeHead(400).end()
      else response.writeHead(request.method === 'POST' ? 202 : 405).end()
    })()
  })
  await new Promise<void>((resolve) => home?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(home.address() as AddressInfo).port}/mcp`
}

const OF_EVERY_SERVER: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'home', version: '1' },
  },
  'tools/list': { tools: [toolNamed('t'), toolNamed('u')] },
}

function reply(response: ServerResponse, { id }: WireMessage, result: object, headers = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

/** Counts how often a client is opened and closed. */
function counting(open: () => Promise<Client>) {
  const counts = { opened: 0, closed: 0 }
  return {
    counts,
    async open() {
      counts.opened += 1
      const client = await open()
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is not an event target
      client.onclose = () => (counts.closed += 1)
      return client
    },
  }
}

const READS = { effects: { t: 'read', u: 'read' } } as const

describe('a call whose answer is lost', () => {
  it('does not end the other calls of the same server', async () => {
    const url = await served(async ({ message: { method, params, ...message }, response }) => {
      if (method !== 'tools/call') return false
      if (params?.['name'] === 'u') return response.writeHead(502).end('bad gateway')
      await pause(300)
      return reply(response, message, text('done'))
    })
    const { counts, open } = counting(mcpClient({ url }))
    const tools = await mcpTools(open)
    expect(await settled(tools, 't', 'u')).toEqual(['ok', 'in-doubt'])
    // The client on which it was lost is closed after its last call.
    expect(counts).toEqual({ opened: 1, closed: 1 })
    await tools.close()
  })

  it.each([
    ['ends', (response: ServerResponse) => response.end()],
    ['breaks', (response: ServerResponse) => response.destroy()],
  ])('is known at once when the stream of its response %s', async (_, end) => {
    let calls = 0
    const url = await served(async ({ message, response }) => {
      if (message.method !== 'tools/call') return false
      calls += 1
      if (calls > 2) return reply(response, message, text('done'))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n')
      await pause(20)
      return end(response)
    })
    const began = performance.now()
    const writes = await mcpTools(mcpClient({ url }))
    expect(await settled(writes, 't')).toEqual(['in-doubt'])
    const reads = await mcpTools(mcpClient({ url }), READS)
    expect(await settled(reads, 't')).toEqual(['ok'])
    expect(calls).toBe(3)
    expect(performance.now() - began).toBeLessThan(10_000)
    await Promise.all([writes.close(), reads.close()])
  })

  it('is not sent without end by a server that asks for it again and again', async () => {
    let calls = 0
    const handler = createMcpHandler(() => {
      const server = new McpSdkServer({ name: 'x', version: '1' }, { capabilities: { tools: {} } })
      server.setRequestHandler('tools/list', () => ({ tools: [toolNamed('t')] as never }))
      server.setRequestHandler('tools/call', () => {
        return { resultType: 'input_required', requestState: 'again' } as never
      })
      return server
    })
    const fetch = async (input: string | URL | Request, init?: RequestInit) => {
      const isCall = typeof init?.body === 'string' && init.body.includes('"tools/call"')
      if (isCall) calls += 1
      if (isCall && calls > 3) throw new TypeError('terminated')
      return handler.fetch(new Request(input, init))
    }
    const { counts, open } = counting(async () => {
      const client = new Client({ name: 't', version: '1' }, MODERN)
      await client.connect(new StreamableHTTPClientTransport(new URL('http://here/mcp'), { fetch }))
      return client
    })
    const tools = await mcpTools(open, READS)
    expect(await settled(tools, 't')).toEqual(['failed'])
    expect(calls).toBe(6)
    expect(counts.opened).toBeLessThanOrEqual(4)
    await tools.close()
  })
})

const MODERN = {
  versionNegotiation: { mode: 'auto' },
  inputRequired: { autoFulfill: false },
  capabilities: { elicitation: { form: {} } },
} as const

describe('a session over HTTP', () => {
  it('is begun again when the server has forgotten it, and nothing is sent twice', async () => {
    let session = 'first'
    const counts = { initialize: 0, 'tools/call': 0, DELETE: 0 }
    const url = await served(({ message, request, response }) => {
      if (request.method === 'DELETE') {
        counts.DELETE += 1
        return response.end()
      }
      if (message.method === 'initialize') {
        counts.initialize += 1
        const headers = { 'mcp-session-id': session }
        return reply(response, message, OF_EVERY_SERVER['initialize'] ?? {}, headers)
      }
      const isKnown = request.headers['mcp-session-id'] === session
      if (!isKnown && message.id !== undefined) return response.writeHead(404).end()
      if (message.method !== 'tools/call') return false
      counts['tools/call'] += 1
      return reply(response, message, text('done'))
    })
    const tools = await mcpTools(mcpClient({ url }), { effects: { t: 'read' } })
    expect(await settled(tools, 't')).toEqual(['ok'])
    session = 'second'
    expect(await settled(tools, 't')).toEqual(['ok'])
    session = 'third'
    expect(await settled(tools, 'u')).toEqual(['ok'])
    await tools.close()
    expect(counts).toEqual({ initialize: 3, 'tools/call': 3, DELETE: 3 })
  })
})

describe('a list that cannot be read', () => {
  /** A server whose second list is an error. */
  function limited() {
    const server = serverWith([toolNamed('t'), toolNamed('u')], async ({ params }) => {
      if (params?.['name'] === 't') await pause(300)
      return text('done')
    })
    const list = server.handlers['tools/list']
    server.handlers['tools/list'] = (message, connection) => {
      if (server.count('tools/list') !== 3) return list?.(message, connection)
      throw Object.assign(new Error('rate limited'), { code: -32_000 })
    }
    return server
  }

  it('fails one call, and ends no other', async () => {
    const server = limited()
    const tools = await mcpTools(server.open)
    const slow = settled(tools, 't')
    await pause(50)
    expect(await settled(tools, 'u')).toEqual(['failed'])
    expect(await slow).toEqual(['ok'])
    expect(server.opened).toBe(1)
    await tools.close()
  })

  it('does not take a client out of use that cannot be opened again', async () => {
    const server = limited()
    const tools = await mcpTools(await server.open())
    expect(await settled(tools, 'u')).toEqual(['ok'])
    expect(await settled(tools, 'u')).toEqual(['failed'])
    expect(await settled(tools, 'u')).toEqual(['ok'])
    await tools.close()
  })
})

describe('closing the tools', () => {
  it('does not wait for the next try to open a connection', async () => {
    const server = serverWith([toolNamed('t')])
    let isUp = true
    const open = async () => (isUp ? server.open() : Promise.reject(new Error('down')))
    const tools = await mcpTools(open)
    isUp = false
    server.handlers['tools/list'] = (_, connection) => {
      connection.kill()
      return SILENT
    }
    const waiting = settled(tools, 't')
    // The fourth try is most of a second away then.
    await pause(750)
    const began = performance.now()
    await tools.close()
    expect(performance.now() - began).toBeLessThan(300)
    expect(await waiting).toEqual(['failed'])
  })
})
