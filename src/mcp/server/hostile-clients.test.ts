import {
  Client,
  type ClientOptions,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { afterEach, describe, expect, it } from 'vitest'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { inputRequired } from '../../tools/person-request.ts'
import { Tool } from '../../tools/tool.ts'
import type { ToolContext } from '../../tools/tool-context.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { type McpServer, type McpServerOptions, mcpServer } from './mcp-server.ts'
import { ProgressNotes } from './progress-notes.ts'

type Handler = (args: Record<string, unknown>, ctx: ToolContext) => unknown

const plain = (name: string, handler: Handler, more: object = {}) =>
  new Tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object' },
    handler: handler as () => string,
    ...more,
  })

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const ASKABLE = { elicitation: { form: {}, url: {} } }

async function clientOf(server: McpServer, options: ClientOptions = { capabilities: ASKABLE }) {
  const info = { name: 'test', version: '1' }
  const client = new Client(info, { versionNegotiation: { mode: 'auto' }, ...options })
  const fetch = (url: string | URL, init?: RequestInit) => server.handle(new Request(url, init))
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }),
  )
  open.push(server, client)
  return client
}

const served = (options: McpServerOptions, client?: ClientOptions) =>
  clientOf(mcpServer(options), client)

const deleting = (ran: string[]) =>
  plain('delete', () => void ran.push('ran'), { effect: 'write', approval: true })

describe('a request that is too large', () => {
  it.each(['2026-07-28', '2025-11-25'])('is not read to its end: %s', async (version) => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        // It would go on to a gigabyte.
        if (pulled > 2 ** 30) return controller.close()
        pulled += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(0x20))
      },
    })
    const server = mcpServer({ tools: [] })
    open.push(server)
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
    }
    const request = { method: 'POST', headers, body, duplex: 'half' }
    const response = await server.handle(new Request('http://localhost/mcp', request))
    expect(response.status).toBe(413)
    expect(pulled).toBeLessThan(16 * 2 ** 20)
  })
})

describe('a request of a page', () => {
  const status = async (headers: Record<string, string>, hosts: string[] = []) => {
    const server = mcpServer({ tools: [], hosts })
    const request = new Request('http://localhost/mcp', { method: 'DELETE', headers })
    return (await server.handle(request)).status
  }

  it.each([
    ['a file', { host: 'localhost', origin: 'file://' }],
    ['another port', { host: 'localhost:3000', origin: 'http://localhost:4000' }],
    ['an extension', { host: 'localhost', origin: 'chrome-extension://localhost' }],
    ['an address that is not here', { host: '192.168.0.1' }],
    ['a name in front of ours', { host: 'localhost.evil.example' }],
    ['a user in front of another name', { host: 'localhost@evil.example' }],
    ['nothing that is a host', { host: '' }],
    ['many origins', { host: 'localhost', origin: 'http://localhost http://evil.example' }],
  ])('is refused: from %s', async (_, headers) => {
    expect(await status(headers)).toBe(403)
  })

  it.each([
    ['IPv6', { host: '[::1]:3000', origin: 'http://[::1]:3000' }, []],
    ['a name in capitals', { host: 'mcp.example.com' }, ['MCP.Example.com']],
    ['a host with a port', { host: 'mcp.example.com:8443' }, ['mcp.example.com']],
  ])('is served: %s', async (_, headers, hosts) => {
    expect(await status(headers, hosts)).not.toBe(403)
  })

  it.each([
    '*',
    '*.example.com',
    'mcp.example.com:443',
    'http://mcp.example.com',
    'a/b',
    'a b',
    '::1',
  ])('cannot come to an invalid host: %s', (host) => {
    expect(() => mcpServer({ tools: [], hosts: [host] })).toThrow('without ports')
  })
})

describe('an answer', () => {
  const asked = async (client: Client, name: string) => {
    const result = await client.callTool({ name }, { allowInputRequired: true })
    const { inputRequests, requestState } = result as unknown as {
      inputRequests: Record<string, unknown>
      requestState: string
    }
    const [key = ''] = Object.keys(inputRequests)
    const approve = { action: 'accept', content: { approve: true } }
    return { name, inputResponses: { [key]: approve }, requestState }
  }

  it('counts once when it comes many times at once', async () => {
    const ran: string[] = []
    const client = await served({ tools: [deleting(ran)], approvals: 'client' })
    const answer = await asked(client, 'delete')
    const answers = Array.from({ length: 20 }, () =>
      client.callTool(answer, { allowInputRequired: true }),
    )
    const good = (await Promise.all(answers)).filter(({ isError }) => isError !== true)
    expect([ran, good.length > 0]).toEqual([['ran'], true])
  })

  it('does not count on another server', async () => {
    const ran: string[] = []
    const options = { tools: [deleting(ran)], approvals: 'client' } as const
    const [one, two] = [await served(options), await served(options)]
    const answer = await asked(one, 'delete')
    await expect(two.callTool(answer, { allowInputRequired: true })).rejects.toMatchObject({
      code: -32_602,
    })
    expect(ran).toEqual([])
  })

  it.each(['', '.', '%', 'x.y', '%5B%5D.x', 'null.x', `${'%'.repeat(10_000)}.x`])(
    'does not count with a state that nobody signed: %.20s',
    async (requestState) => {
      const ran: string[] = []
      const client = await served({ tools: [deleting(ran)], approvals: 'client' })
      const answer = { name: 'delete', requestState, inputResponses: {} }
      await client.callTool(answer, { allowInputRequired: true }).catch(() => undefined)
      expect(ran).toEqual([])
    },
  )
})

describe('a client that cannot answer', () => {
  it.each([
    ['modern', { capabilities: {} }],
    ['legacy', { capabilities: {}, versionNegotiation: { mode: 'legacy' } }],
  ] as const)('leaves no open question behind: %s protocol', async (era, options) => {
    const store = memoryStore()
    const asks = plain('ask', () => inputRequired({ message: 'Who?', schema: { type: 'object' } }))
    const client = await served({ tools: [asks], store }, options)
    expect(client.getProtocolEra()).toBe(era)
    const result = await client.callTool({ name: 'ask' }).catch((error: unknown) => error)
    expect(result).toMatchObject(era === 'modern' ? { code: -32_021 } : { isError: true })
    const [gate] = await dataIn(store, 'gate-opened')
    const found = await store.gate(gate?.conversation ?? '', gate?.id ?? '')
    expect(found?.state).toBe('consumed')
  })
})

/** What the entries of one kind hold. */
async function dataIn(store: ReturnType<typeof memoryStore>, kind: 'gate-opened' | 'settlement') {
  const { entries } = await store.find({ kind })
  return entries.map(({ conversation, entry }) => ({
    conversation,
    ...(entry.data as { readonly id: string; readonly settlement?: string }),
  }))
}

describe('a cancelled call', () => {
  it.each(['modern', 'legacy'])('leaves a write in doubt: %s protocol', async (era) => {
    const store = memoryStore()
    let started: () => void = () => undefined
    const running = new Promise<void>((resolve) => (started = resolve))
    const write = plain(
      'write',
      async (_, { signal }) => {
        started()
        await new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
      },
      { effect: 'write' },
    )
    const mode = era === 'modern' ? 'auto' : 'legacy'
    const client = await served({ tools: [write], store }, { versionNegotiation: { mode } })
    const abort = new AbortController()
    const call = client.callTool({ name: 'write' }, { signal: abort.signal })
    await running
    abort.abort()
    await expect(call).rejects.toThrow('Abort')
    const settlements = async () =>
      (await dataIn(store, 'settlement')).map(({ settlement }) => settlement)
    await expect.poll(settlements).toEqual(['in-doubt'])
  })
})

describe('many calls at once', () => {
  it('all end, though the store in memory remembers fewer', async () => {
    const client = await served({ tools: [plain('slow', () => 'done', { effect: 'read' })] })
    const calls = Array.from({ length: 300 }, () => client.callTool({ name: 'slow' }))
    const results = await Promise.all(calls)
    expect(results.every(({ isError }) => isError !== true)).toBe(true)
  })
})

describe('progress', () => {
  it('is thinned out when a handler floods, and never goes back', async () => {
    const floods: Handler = (_, { progress }) => {
      for (let at = 0; at < 20_000; at += 1) progress({ progress: at, total: 20_000 })
      progress({ progress: 3 })
      progress('text')
      return 'done'
    }
    const server = mcpServer({ tools: [plain('flood', floods, { effect: 'read' })] })
    const [here, there] = InMemoryTransport.createLinkedPair()
    await server.connect(there)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(here)
    open.push(server, client)
    const seen: number[] = []
    const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
    await client.callTool({ name: 'flood' }, { onprogress })
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.length).toBeLessThan(1_000)
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
  })
})

describe('progress that cannot be sent', () => {
  it('does not end the progress of its call', async () => {
    const tells: Handler = async (_, { progress }) => {
      for (const update of ['one', { big: 1n }, 'three']) {
        progress(update as string)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      return 'done'
    }
    const client = await served({ tools: [plain('tells', tells, { effect: 'read' })] })
    const seen: unknown[] = []
    const onprogress = (note: object) => void seen.push(Reflect.get(note, 'message'))
    await client.callTool({ name: 'tells' }, { onprogress })
    expect(seen).toEqual(['one', '', 'three'])
  })
})

describe('ProgressNotes', () => {
  it('has a pause between the notes of a flood', () => {
    const notes = new ProgressNotes()
    const told = Array.from({ length: 1_000 }, (_, at) => notes.next({ progress: at }, at))
    expect(told.filter(Boolean).length).toBe(109)
  })

  it.each([
    [
      { progress: 1, total: 2, message: 'half', more: 1 },
      { progress: 1, total: 2, message: 'half' },
    ],
    [{ progress: Number.NaN }, { progress: 1, message: '{"progress":null}' }],
    ['text', { progress: 1, message: 'text' }],
    [undefined, { progress: 1, message: '' }],
    [7, { progress: 1, message: '7' }],
    [{ big: 1n }, { progress: 1, message: '' }],
    [{ progress: 1, total: Number.NaN }, { progress: 1 }],
  ])('makes a note of any update: %o', (update, note) => {
    expect(new ProgressNotes().next(update, 0)).toEqual(note)
  })
})

interface Part {
  readonly text: string
  readonly blob: string
  readonly _meta: Record<string, string>
}

describe('a result in parts', () => {
  const LINES = Array.from({ length: 12_000 }, (_, i) => `zeile ${i} äöü € 😀`).join('\n')

  async function link(tool: Tool) {
    const client = await served({ tools: [tool] })
    const { content } = await client.callTool({ name: tool.name })
    const [first] = content as { uri?: string }[]
    const read = async (query: string) => {
      const { contents } = await client.readResource({ uri: `${first?.uri}${query}` })
      const [{ _meta: meta, ...part } = {}] = contents as unknown as Partial<Part>[]
      return { text: part.text ?? '', blob: part.blob ?? '', next: meta?.['bobbin-adk/next'] }
    }
    return { client, read, uri: first?.uri ?? '' }
  }

  const text = plain('text', () => LINES, { effect: 'read', inline: false })

  it('is cut between characters, and the parts are the whole', async () => {
    const { read } = await link(text)
    const size = Buffer.byteLength(LINES)
    let whole = ''
    for (let start = 0; start < 700; start += 7) {
      whole += (await read(`?start=${start}&end=${start + 7}`)).text
    }
    expect(LINES.startsWith(whole)).toBe(true)
    let all = ''
    let query = ''
    for (let parts = 0; parts < 10; parts += 1) {
      const part = await read(query)
      all += part.text
      if (part.next === undefined) break
      query = part.next.replace(/^[^?]*/, '')
    }
    expect([all === LINES, size > 262_144]).toEqual([true, true])
  })

  it('keeps every byte order mark', async () => {
    const marks = '\ufeff'.repeat(20_000)
    const { read } = await link(plain('marks', () => marks, { effect: 'read', inline: false }))
    const [whole, middle] = [await read(''), await read('?start=3&end=9')]
    expect([whole.text.length, middle.text.length]).toEqual([20_000, 2])
  })

  it('gives a whole character, however short the range is, so that a reader gets on', async () => {
    const { read } = await link(text)
    const at = Buffer.from(LINES).indexOf(Buffer.from('😀'))
    const part = await read(`?start=${at + 1}&end=${at + 2}`)
    expect([part.text, part.next]).toEqual([
      '😀',
      expect.stringMatching(new RegExp(`start=${at + 4}$`)),
    ])
  })

  it.each([
    ['?start=10&end=5', ''],
    ['?start=999999999999999', ''],
    ['?start=-1&end=0', ''],
    ['?start=0&end=6&start=3', 'zeile '],
    ['?start=1e3&end=5', 'zeile'],
  ])('may be asked for with any range: %s', async (query, expected) => {
    const { read } = await link(text)
    expect((await read(query)).text).toBe(expected)
  })

  it('may be media, whose parts are bytes', async () => {
    const bytes = Buffer.alloc(3_000_000, 'bobbin')
    const film = () =>
      new Media({
        kind: 'video',
        mimeType: 'video/mp4',
        filename: 'a.mp4',
        trustTier: 'first-party',
        modalityHazard: 'inert',
        reader: bytesMedia(bytes),
      })
    const { read } = await link(plain('film', film, { effect: 'read' }))
    const part = await read('?start=2999990')
    expect(Buffer.from(part.blob, 'base64').equals(bytes.subarray(-10))).toBe(true)
    const first = await read('')
    expect(Buffer.from(first.blob, 'base64').length).toBe(262_144)
    expect(first.next).toMatch(/start=262144$/)
  })

  it.each(['/../x', '/%2e%2e/0', '/99999', '#x', '/0/0'])(
    'is found at its own address only: %s',
    async (wrong) => {
      const { client, uri } = await link(text)
      await expect(client.readResource({ uri: `${uri}${wrong}` })).rejects.toMatchObject({
        code: -32_602,
      })
    },
  )
})

describe('an agent', () => {
  it('does not show clients what its own tools gave', async () => {
    const store = memoryStore()
    const secret = plain('secret', () => 'x'.repeat(50_000), { effect: 'read', inline: false })
    const model = scriptedModel([[{ call: 'secret' }], [{ text: 'Done.' }], [{ text: 'Again.' }]])
    const agent = new TurnRunner({ model, tools: [secret], store })
    const client = await served({ tools: [secret], agents: { agent }, store })
    const result = await client.callTool({ name: 'agent', arguments: { message: 'Go.' } })
    const { conversation = '' } = result.structuredContent as Record<string, string>
    const [settled] = await dataIn(store, 'settlement')
    expect(settled?.conversation).toBe(conversation)
    const uri = `bobbin://result/${conversation}/${settled?.id}/0`
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 })
    // Nor can the record of a call be continued as a conversation.
    const { content } = await client.callTool({ name: 'secret' })
    const call = /mcp-[0-9a-f-]{36}/.exec((content as { uri: string }[])[0]?.uri ?? '')?.[0]
    const args = { message: 'Go on.', conversation: call }
    const again = await client.callTool({ name: 'agent', arguments: args })
    expect([call !== undefined, again.isError]).toEqual([true, true])
  })
})

describe('a tool that wants an argument as a header', () => {
  const routed = (header: string) =>
    plain('route', ({ region }) => `to ${String(region)}`, {
      effect: 'read',
      inputSchema: {
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': header } },
      },
    })

  it('is called by a client that sends it', async () => {
    const client = await served({ tools: [routed('Region')] })
    await client.listTools()
    const call = { name: 'route', arguments: { region: 'nörd' } }
    expect((await client.callTool(call)).content).toMatchObject([{ text: 'to nörd' }])
  })

  it('is not called with a header that says something else', async () => {
    const server = mcpServer({ tools: [routed('Region')] })
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    )
    const fetch = (url: string | URL, init?: RequestInit) => {
      const request = new Request(url, init)
      if (request.headers.has('mcp-param-region')) request.headers.set('mcp-param-region', 'south')
      return server.handle(request)
    }
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }),
    )
    open.push(server, client)
    await client.listTools()
    const call = { name: 'route', arguments: { region: 'north' } }
    await expect(client.callTool(call)).rejects.toThrow('eader')
  })

  it('is refused if its header is no header', () => {
    expect(() => mcpServer({ tools: [routed('Host: evil')] })).toThrow('`route`')
  })
})

describe('two tools of one name', () => {
  it('are refused', () => {
    const tools = [plain('a', () => ''), plain('a', () => '')]
    expect(() => mcpServer({ tools })).toThrow('named `a`, not two')
  })
})
