import { Client, type ClientOptions, type Transport } from '@modelcontextprotocol/client'

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
      const { code = -32_000, message: text } = error as { code?: number; message: string }
      connection.send({ jsonrpc: '2.0', id, error: { code, message: text } })
    }
  }
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
