import type { McpHttpHandler } from '@modelcontextprotocol/server'
import { systemClock } from '../../core/clock.ts'
import type { Serve } from './connections.ts'
import { httpError } from './http-error.ts'
import { HttpSessions } from './http-sessions.ts'
import { loadSdk, type Sdk } from './sdk.ts'
import type { ToolChanges } from './tool-changes.ts'

/** The server over HTTP: protocol 2026-07-28 request by request, older ones in sessions. */
export class HttpFace {
  readonly #serve: Serve
  readonly #sessions: HttpSessions | undefined
  #handler: McpHttpHandler | undefined
  #isClosed = false

  constructor(options: { readonly sessions: number }, serve: Serve, changes: ToolChanges) {
    const most = options.sessions
    this.#serve = serve
    this.#sessions = most > 0 ? new HttpSessions({ most, clock: systemClock, serve }) : undefined
    changes.add(() => {
      this.#handler?.notify.toolsChanged()
      this.#sessions?.toolsChanged()
    })
  }

  async handle(request: Request): Promise<Response> {
    const sdk = await loadSdk()
    if (this.#isClosed) return httpError(503, -32_000, 'This server is closed.')
    const sessions = this.#sessions
    if (sessions !== undefined && (await sdk.isLegacyRequest(request))) {
      const answer = await sessions.handle(sdk, request)
      if (answer !== undefined) return answer
    }
    return this.#stateless(sdk).fetch(request)
  }

  /** Serves requests without a session. A client of an older protocol receives no notifications of changes there. */
  #stateless(sdk: Sdk): McpHttpHandler {
    this.#handler ??= sdk.createMcpHandler(({ era }) => this.#serve(sdk, era === 'modern'))
    return this.#handler
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#handler?.close(), this.#sessions?.close()])
  }
}
