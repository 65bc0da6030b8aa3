import type { McpServer, McpServerFactory, Server, Transport } from '@modelcontextprotocol/server'
import { BobbinError } from '../../core/error/error.ts'
import { loadSdk, onClosed, type Sdk } from './sdk.ts'
import type { ToolChanges } from './tool-changes.ts'

/** Makes a server object; `listChanged` is false where clients cannot hear of changes. */
export type Serve = (sdk: Sdk, listChanged?: boolean) => McpServer

/** The open connections over stdio and such transports. */
export class Connections {
  readonly #serve: Serve
  readonly #changes: ToolChanges
  readonly #open = new Set<{ close(): Promise<void> }>()
  #isClosed = false

  constructor(serve: Serve, changes: ToolChanges) {
    this.#serve = serve
    this.#changes = changes
  }

  async add(transport: Transport): Promise<void> {
    const sdk = await loadSdk()
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
    if (this.#isClosed) throw closed()
    const connection = { close: async () => undefined as void }
    const factory: McpServerFactory = ({ era }) => {
      const { server } = this.#serve(sdk)
      // The first object of a connection may only find out which protocol the client speaks.
      this.#open.add(connection)
      onClosed(server, () => this.#open.delete(connection))
      // A client of an older protocol takes no notifications before it is ready.
      if (era === 'modern') this.#follow(server)
      else server.oninitialized = () => this.#follow(server)
      return server
    }
    this.#open.add(connection)
    const handle = serveStdio(factory, { transport })
    connection.close = () => handle.close()
  }

  /** Tells a client of changes until it leaves. */
  #follow(server: Server): void {
    const tell = () => void server.sendToolListChanged().catch(() => undefined)
    onClosed(server, this.#changes.add(tell))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#open].map((each) => each.close()))
  }
}

function closed(): BobbinError {
  const reason = 'This server is closed.'
  return new BobbinError('E_MCP_UNAVAILABLE', reason, { reason })
}
