import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Clock } from '../../core/clock.ts'
import { httpError } from './http-error.ts'
import { onClosed, type Sdk } from './sdk.ts'
import { watchedBody } from './watched-body.ts'

/** An unused session ends after this time. */
const IDLE_MS = 30 * 60_000
const HEADER = 'mcp-session-id'
const INITIALIZE = 'initialize'

interface Session {
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  lastUsed: number
  /** How many requests are under way. Such a session never makes room for another. */
  requests: number
  /** How many streams the client listens on. Such a session does not end by itself. */
  streams: number
  /** The list of tools changed while the client listened on no stream. */
  hasNews: boolean
}

/** What sessions are made of. */
export interface SessionParts {
  readonly most: number
  readonly clock: Clock
  /** Makes the server object of a session. */
  readonly serve: (sdk: Sdk) => { readonly server: Server }
}

/**
 * The sessions of clients that speak a protocol before 2026-07-28 over HTTP: only in a session can a server ask, and tell
 * of changes. Their number is bounded: a new session ends the one that was unused for longest. An id is random, and
 * a request that has it counts as the client's.
 */
export class HttpSessions {
  readonly #parts: SessionParts
  /** The one that was unused for longest comes first. */
  readonly #open = new Map<string, Session>()

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#open.size
  }

  /** Answers a request of a session, or one that begins a session. Undefined for any other. */
  async handle(sdk: Sdk, request: Request): Promise<Response | undefined> {
    this.#endIdle()
    const id = request.headers.get(HEADER)
    if (id !== null) {
      const session = this.#open.get(id)
      if (session !== undefined) return this.#answer(id, session, request)
      return httpError(404, -32_001, 'Session not found')
    }
    return (await isInitialize(request)) ? this.#begin(sdk, request) : undefined
  }

  /** Tells the clients that listen. The others hear of it when they listen next. */
  toolsChanged(): void {
    for (const session of this.#open.values()) tell(session)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#end(id)))
  }

  async #begin(sdk: Sdk, request: Request): Promise<Response> {
    if (!this.#hasRoom()) {
      return httpError(503, -32_000, 'All sessions have calls under way. Try again later.')
    }
    const id = crypto.randomUUID()
    const { server } = this.#parts.serve(sdk)
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
    })
    const session = { server, transport, lastUsed: 0, requests: 1, streams: 0, hasNews: false }
    onClosed(server, () => this.#open.delete(id))
    // It counts before anything is waited for, so that many at once stay within the bound.
    this.#open.set(id, session)
    await server.connect(transport)
    endCancelled(transport)
    const response = await this.#answer(id, session, request)
    session.requests -= 1
    if (transport.sessionId === undefined) await this.#end(id)
    return response
  }

  async #answer(id: string, session: Session, request: Request): Promise<Response> {
    const kind = request.method === 'GET' ? 'streams' : 'requests'
    session[kind] += 1
    this.#touch(id, session)
    const over = () => {
      session[kind] -= 1
      this.#touch(id, session)
    }
    try {
      const response = watchedBody(await session.transport.handleRequest(request), over)
      if (kind === 'streams' && response.ok && session.hasNews) tell(session)
      return response
    } catch (error) {
      over()
      throw error
    }
  }

  #touch(id: string, session: Session): void {
    session.lastUsed = this.#parts.clock.now()
    if (!this.#open.delete(id)) return
    this.#open.set(id, session)
  }

  #endIdle(): void {
    const limit = this.#parts.clock.now() - IDLE_MS
    for (const [id, { lastUsed, requests, streams }] of this.#open) {
      if (lastUsed > limit) return
      if (requests === 0 && streams === 0) void this.#end(id)
    }
  }

  /** Makes room for one session more. */
  #hasRoom(): boolean {
    if (this.#open.size < this.#parts.most) return true
    const [oldest] = [...this.#open].find(([, { requests }]) => requests === 0) ?? []
    if (oldest === undefined) return false
    void this.#end(oldest)
    return true
  }

  async #end(id: string): Promise<void> {
    const session = this.#open.get(id)
    this.#open.delete(id)
    await session?.server.close().catch(() => undefined)
  }
}

/** Ends the answer to a request that the client cancels. The SDK leaves it open, and the session would count as busy. */
function endCancelled(transport: Session['transport']): void {
  const receive = transport.onmessage
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the transport is not an event target
  transport.onmessage = (message, extra) => {
    receive?.(message, extra)
    if (!('method' in message) || message.method !== 'notifications/cancelled') return
    const { requestId } = message.params ?? {}
    if (typeof requestId === 'string' || typeof requestId === 'number') {
      transport.closeSSEStream(requestId)
    }
  }
}

function tell(session: Session): void {
  session.hasNews = session.streams === 0
  if (session.hasNews) return
  session.server.sendToolListChanged().catch(() => undefined)
}

async function isInitialize(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined)
  return Object(body) === body && Reflect.get(body as object, 'method') === INITIALIZE
}
