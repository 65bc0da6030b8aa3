import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'

/** A message as it is on the wire: what a server sends may be anything. */
export interface WireMessage {
  readonly jsonrpc?: string
  readonly id?: number | string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: unknown
}

/** The server's side of one connection, for a handler. */
export interface WireConnection {
  send(message: unknown): void
  /** Ends the connection as a killed process does. */
  kill(): void
}

type Handler = (message: WireMessage, connection: WireConnection) => unknown

/** A server of which a test writes every answer; it speaks protocol 2025-11-25 to the SDK's own client. */
export class WireServer {
  readonly received: WireMessage[] = []
  readonly handlers: Record<string, Handler>
  opened = 0

  constructor(handlers: Record<string, Handler> = {}) {
    this.handlers = {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true }, resources: {} },
        serverInfo: { name: 'wire', version: '1' },
      }),
      ...handlers,
    }
  }

  /** How often a method was asked for. */
  count(method: string): number {
    return this.received.filter((message) => message.method === method).length
  }

  /** Opens a client that is connected to this server. */
  readonly open = async (options: ClientOptions = {}): Promise<Client> => {
    this.opened += 1
    const client = new Client({ name: 'test', version: '1' }, { ...OFFERS, ...options })
    await client.connect(this.#transport())
    return client
  }

  /** Opens a client of protocol 2026-07-28 over HTTP, without a socket. */
  readonly openHttp = async (): Promise<Client> => {
    this.opened += 1
    const modern = { versionNegotiation: { mode: 'auto' } } as const
    const client = new Client({ name: 'test', version: '1' }, { ...OFFERS, ...modern })
    const url = new URL('http://here/mcp')
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: this.#fetch }))
    return client
  }

  /** Answers with a stream of what is sent, up to the answer. */
  readonly #fetch = async (_: string | URL, init: RequestInit = {}): Promise<Response> => {
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const message = JSON.parse(init.body as string) as WireMessage
    this.received.push(message)
    if (message.id === undefined) return new Response(null, { status: 202 })
    const body = await new Promise<string>((resolve, reject) => {
      let events = ''
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
      const kill = () => reject(new TypeError('terminated'))
      const send = (sent: unknown) => {
        events += `event: message\ndata: ${JSON.stringify(modernised(sent))}\n\n`
        if ((sent as WireMessage).id === message.id) queueMicrotask(() => resolve(events))
      }
      if (message.method === 'server/discover') {
        send({ jsonrpc: '2.0', id: message.id, result: this.#discovery(message) })
      } else void this.#answer(message, { send, kill })
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }

  #discovery(message: WireMessage): object {
    const first = this.handlers['initialize']?.(message, { send: () => {}, kill: () => {} })
    const { capabilities, serverInfo } = first as { capabilities: object; serverInfo: object }
    const meta = { 'io.modelcontextprotocol/serverInfo': serverInfo }
    return { supportedVersions: ['2026-07-28'], capabilities, _meta: meta }
  }

  #transport(): Transport {
    const transport: Transport = {
      start: async () => undefined,
      close: async () => transport.onclose?.(),
      send: async (message) => {
        const received = structuredClone(message) as WireMessage
        this.received.push(received)
        queueMicrotask(() => void this.#answer(received, connection))
      },
    }
    const connection: WireConnection = {
      send: (message) => transport.onmessage?.(structuredClone(message) as never),
      kill: () => transport.onclose?.(),
    }
    return transport
  }

  async #answer(message: WireMessage, connection: WireConnection): Promise<void> {
    const { id, method } = message
    if (method === undefined) return
    const handler = this.handlers[method]
    if (id === undefined) return void (await handler?.(message, connection))
    if (handler === undefined) {
      const error = { code: -32_601, message: 'Method not found' }
      return connection.send({ jsonrpc: '2.0', id, error })
    }
    try {
      const result = await handler(message, connection)
      if (result !== SILENT) connection.send({ jsonrpc: '2.0', id, result })
    } catch (error) {
      const { code = -32_000, message: text, data } = error as WireError
      connection.send({ jsonrpc: '2.0', id, error: { code, message: text, data } })
    }
  }
}

interface WireError {
  readonly code?: number
  readonly message: string
  readonly data?: unknown
}

/** A message with what protocol 2026-07-28 wants of a result. */
function modernised(message: unknown): unknown {
  const { result, ...others } = message as WireMessage
  if (typeof result !== 'object' || result === null) return message
  const parts = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result }
  return { ...others, result: parts }
}

/** What a handler returns that has answered by itself, or never will. */
export const SILENT = Symbol('silent')

const OFFERS = { capabilities: { elicitation: { form: {}, url: {} } } } as const

/** A definition of a tool without parameters. */
export const toolNamed = (name: string, more: object = {}) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
})

/** A server with some tools whose calls one handler answers. */
export const serverWith = (tools: readonly unknown[], call: Handler = () => ({ content: [] })) =>
  new WireServer({ 'tools/list': () => ({ tools }), 'tools/call': call })
