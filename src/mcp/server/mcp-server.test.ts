import {
  Client,
  type ClientOptions,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it } from 'vitest'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { inputRequired } from '../../tools/person-request.ts'
import { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { type McpServer, type McpServerOptions, mcpServer } from './mcp-server.ts'

const NO_INPUT = { type: 'object' } as const

const add = new Tool({
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  effect: 'read',
  handler: ({ a, b }) => ({ sum: a + b }),
})

const plain = (name: string, handler: () => unknown, more: object = {}) =>
  new Tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: NO_INPUT,
    handler: handler as () => string,
    ...more,
  })

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** A client over HTTP without a socket. */
async function clientOf(server: McpServer, options: ClientOptions = {}): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: 'auto' },
      capabilities: { elicitation: { form: {}, url: {} } },
      ...options,
    },
  )
  const fetch = (url: string | URL, init?: RequestInit) => server.handle(new Request(url, init))
  const url = new URL('http://localhost/mcp')
  await client.connect(new StreamableHTTPClientTransport(url, { fetch }))
  open.push(client, server)
  return client
}

const served = (options: McpServerOptions, client: ClientOptions = {}) =>
  clientOf(mcpServer(options), client)

describe('mcpServer', () => {
  it('offers tools with their effects, and calls them', async () => {
    const client = await served({ tools: [add] })
    const { tools } = await client.listTools()
    expect(client.getProtocolEra()).toBe('modern')
    expect(tools).toMatchObject([
      { name: 'add', annotations: { readOnlyHint: true }, inputSchema: add.jsonSchema },
    ])
    const result = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })
    expect(result).toMatchObject({
      content: [{ type: 'text', text: '{\n  "sum": 5\n}' }],
      structuredContent: { sum: 5 },
    })
  })

  it('serves protocols before 2026-07-28, and other transports', async () => {
    const server = mcpServer({ tools: [add] })
    const [here, there] = InMemoryTransport.createLinkedPair()
    await server.connect(there)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(here)
    open.push(client, server)
    expect(client.getProtocolEra()).toBe('legacy')
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } })
    expect(result.structuredContent).toEqual({ sum: 2 })
  })

  it('answers wrong arguments and failing handlers as errors of the tool', async () => {
    const fails = plain('fails', () => {
      throw new Error('no stock')
    })
    const client = await served({ tools: [add, fails] })
    const wrong = await client.callTool({ name: 'add', arguments: { a: 'x' } })
    const failed = await client.callTool({ name: 'fails' })
    expect([wrong.isError, failed.isError]).toEqual([true, true])
    expect(failed.content).toMatchObject([{ text: expect.stringContaining('no stock') as string }])
    await expect(client.callTool({ name: 'none' })).rejects.toMatchObject({ code: -32_602 })
  })

  it('gives large results as links that are read in ranges, also after a restart', async () => {
    const store = memoryStore()
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}`).join('\n')
    const log = plain('log', () => lines, { effect: 'read', inline: false })
    const client = await served({ tools: [log], store })
    const { content } = await client.callTool({ name: 'log' })
    const [link] = content as { type: string; uri: string; size: number }[]
    expect(link).toMatchObject({ type: 'resource_link', size: lines.length })
    const later = await served({ tools: [log], store })
    const part = await later.readResource({ uri: `${link?.uri}?start=7&end=14` })
    expect(part.contents).toMatchObject([{ text: lines.slice(7, 14) }])
    const whole = await later.readResource({ uri: link?.uri ?? '' })
    const [first] = whole.contents as { text: string; _meta?: Record<string, unknown> }[]
    expect(lines.startsWith(first?.text ?? 'none')).toBe(true)
    const query = { callId: link?.uri, pattern: 'line 19999$' }
    const found = await later.callTool({ name: 'artifact_grep', arguments: query })
    expect(found.content).toMatchObject([{ text: expect.stringContaining('19999') as string }])
    const { tools } = await later.listTools()
    expect(tools.map(({ name }) => name)).toContain('artifact_json_get')
    await expect(
      later.readResource({ uri: `bobbin://result/mcp-${crypto.randomUUID()}/x/0` }),
    ).rejects.toThrow('not found')
  })

  it('tells progress, and stops a call that is cancelled', async () => {
    const updates: unknown[] = []
    let stopped: unknown
    const slow = new Tool({
      name: 'slow',
      description: 'Takes its time.',
      inputSchema: NO_INPUT,
      effect: 'read',
      async handler(_, ctx) {
        ctx.progress({ progress: 1, total: 2, message: 'half' })
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        stopped = ctx.signal.reason
        return ''
      },
    })
    const client = await served({ tools: [slow] })
    const abort = new AbortController()
    const call = client.callTool(
      { name: 'slow' },
      {
        signal: abort.signal,
        onprogress: (update) => {
          updates.push(update)
          abort.abort()
        },
      },
    )
    await expect(call).rejects.toThrow('AbortError')
    expect(updates).toEqual([{ progress: 1, total: 2, message: 'half' }])
    await expect.poll(() => stopped).toBeDefined()
  })

  it('asks a client what a handler asks a person', async () => {
    const book = new Tool({
      name: 'book',
      description: 'Books a room.',
      inputSchema: NO_INPUT,
      handler: (_, { input }) =>
        input === undefined
          ? inputRequired({
              message: 'Which city?',
              schema: { type: 'object', properties: { city: { type: 'string' } } },
            })
          : `booked in ${JSON.stringify(input.value)}`,
    })
    const client = await served({ tools: [book] })
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { city: 'Oslo' },
    }))
    const result = await client.callTool({ name: 'book' })
    expect(result.content).toMatchObject([{ text: 'booked in {"city":"Oslo"}' }])
  })
})

describe('a call that needs approval', () => {
  const deleting = (ran: string[]) =>
    plain('delete', () => void ran.push('ran'), { effect: 'write', approval: true })

  it('is refused unless clients may decide', async () => {
    const ran: string[] = []
    const client = await served({ tools: [deleting(ran)] })
    const result = await client.callTool({ name: 'delete' })
    expect(result).toMatchObject({ isError: true })
    expect(ran).toEqual([])
  })

  it.each([
    ['approves', { action: 'accept', content: { approve: true } }, ['ran']],
    ['says no', { action: 'accept', content: { approve: false } }, []],
    ['declines', { action: 'decline' }, []],
  ] as const)('runs as the client decides: one that %s', async (_, answer, expected) => {
    const ran: string[] = []
    const client = await served({ tools: [deleting(ran)], approvals: 'client' })
    client.setRequestHandler('elicitation/create', async () => answer as never)
    await client.callTool({ name: 'delete' })
    expect(ran).toEqual(expected)
  })

  it('takes no state but its own, for no other call, and once', async () => {
    const ran: string[] = []
    const tools = [deleting(ran), plain('other', () => 'other')]
    const client = await served({ tools, approvals: 'client' })
    const ask = (params: object) =>
      client.callTool({ name: 'delete', ...params }, { allowInputRequired: true })
    const asked = (await ask({})) as unknown as {
      inputRequests: Record<string, unknown>
      requestState: string
    }
    const [key = ''] = Object.keys(asked.inputRequests)
    const inputResponses = { [key]: { action: 'accept', content: { approve: true } } }
    const { requestState } = asked
    const forged = requestState.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    await expect(ask({ inputResponses, requestState: forged })).rejects.toMatchObject({
      code: -32_602,
    })
    const moved = await ask({ inputResponses, requestState, arguments: { all: true } })
    expect([moved.isError, ran]).toEqual([true, []])
    await ask({ inputResponses, requestState })
    await ask({ inputResponses, requestState })
    expect(ran).toEqual(['ran'])
  })
})

describe('an agent', () => {
  const agent = (ran: string[]) =>
    new TurnRunner({
      model: scriptedModel([[{ call: 'delete' }], [{ text: 'Deleted.' }], [{ text: 'Again.' }]]),
      tools: [plain('delete', () => void ran.push('ran'), { effect: 'write', approval: true })],
    })

  it('is a tool whose gates the client answers, and whose conversations continue', async () => {
    const ran: string[] = []
    const client = await served({
      tools: [],
      agents: { cleaner: agent(ran) },
      approvals: 'client',
    })
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { approve: true },
    }))
    const first = await client.callTool({ name: 'cleaner', arguments: { message: 'Clean up.' } })
    const { answer, conversation } = first.structuredContent as Record<string, string>
    expect([answer, ran]).toEqual(['Deleted.', ['ran']])
    const args = { message: 'More?', conversation }
    const second = await client.callTool({ name: 'cleaner', arguments: args })
    expect(second.structuredContent).toEqual({ answer: 'Again.', conversation })
    const foreign = { message: 'More?', conversation: 'of-somebody-else' }
    expect(await client.callTool({ name: 'cleaner', arguments: foreign })).toMatchObject({
      isError: true,
    })
  })
})

describe('a request over HTTP', () => {
  const asked = (headers: Record<string, string>, options: object = {}) =>
    mcpServer({ tools: [add], ...options }).handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      }),
    )

  it.each([
    ['of this machine', {}, 200],
    ['of a page of the same host', { host: 'localhost:80', origin: 'http://localhost:80' }, 200],
    ['of a page of another site', { host: 'localhost', origin: 'https://evil.example' }, 403],
    ['to a name that points here', { host: 'evil.example', origin: 'http://evil.example' }, 403],
    ['of a page in a sandbox', { origin: 'null' }, 403],
  ])('is looked at first: one %s', async (_, headers, status) => {
    const response = await asked(headers)
    expect(response.status === 403).toBe(status === 403)
  })

  it('may come to hosts that are named', async () => {
    const response = await asked({ host: 'mcp.example.com' }, { hosts: ['mcp.example.com'] })
    expect(response.status).not.toBe(403)
  })
})
