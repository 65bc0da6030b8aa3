import type { Client } from '@modelcontextprotocol/client'
import { delay } from '../../core/delay.ts'
import { brief } from '../../core/error/cut-text.ts'
import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { wrongInput } from '../../core/error/wrong-input.ts'
import { hasMethods } from '../../core/options.ts'
import { asSignIn, isRefusal, refusalText } from '../access/sign-in.ts'
import { endWithStreams } from './dead-streams.ts'
import { isForgotten, SessionEndedError } from './fate.ts'
import { Slots } from './slots.ts'
import { shownName } from './stranger-text.ts'

/** A connected client, or a function that opens one: only then can a lost connection be opened again. */
export type ClientSource = Client | Open

/** Opens a client, until the signal aborts. */
type Open = (signal: AbortSignal) => Promise<Client>

const isClient = hasMethods('callTool', 'request', 'close', 'getServerCapabilities')

/** Refuses what is not a client. */
export function requireClient(value: unknown): Client {
  if (isClient(value)) {
    const client = value as Client
    if (client.getServerCapabilities() !== undefined) return client
    throw wrongInput('mcpTools', 'client', 'must be connected: `await client.connect(transport)`')
  }
  const rule =
    'must be a connected client of `@modelcontextprotocol/client`, or a function that opens one'
  throw wrongInput('mcpTools', 'client', rule)
}

/** How long opening may take. */
const OPEN_MS = 30_000
/** How often one call tries to open a connection. */
const TRIES = 5
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 3_000

/** The way to one server: opens the client, notices when it is lost, and limits how many calls run at once. */
export class Connection {
  readonly slots: Slots
  readonly #open: Open | undefined
  readonly #onOpen: (client: Client, closing: AbortSignal) => void
  #client: Client | undefined
  /** How many requests run on each client. A lost one stays here until its last request has ended. */
  readonly #requests = new Map<Client, number>()
  #opening: Promise<Client> | undefined
  #failures = 0
  readonly #closing = new AbortController()
  #name = 'MCP server'

  constructor(
    source: ClientSource,
    concurrency: number,
    onOpen: (client: Client, closing: AbortSignal) => void,
  ) {
    this.slots = new Slots(concurrency)
    this.#onOpen = onOpen
    if (typeof source === 'function') this.#open = source
    else this.#use(source)
  }

  /** The name that the server gives itself: bounded and visible, and still a stranger's word. */
  get name(): string {
    return this.#name
  }

  /** Aborts when the tools are closed. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** The client, opened if need be. Waits longer after each failure. */
  async client(signal: AbortSignal): Promise<Client> {
    signal.throwIfAborted()
    if (this.#client !== undefined) return this.#client
    this.#opening ??= this.#reopen().finally(() => {
      this.#opening = undefined
    })
    return orAborted(this.#opening, signal)
  }

  /** Runs a request on a client. */
  async request<T>(client: Client, work: () => Promise<T>): Promise<T> {
    this.#requests.set(client, (this.#requests.get(client) ?? 0) + 1)
    try {
      return await work()
    } catch (error) {
      if (!isForgotten(error, client.transport?.sessionId)) throw error
      throw new SessionEndedError('the server has ended the session', { cause: error })
    } finally {
      const left = (this.#requests.get(client) ?? 1) - 1
      if (left > 0) this.#requests.set(client, left)
      else this.#requests.delete(client)
      this.#closeUnused(client)
    }
  }

  /**
   * Takes a client out of use. Its other requests may still be answered, so it is closed after the last of them. A client
   * that cannot be opened again stays in use until it closes.
   */
  lost(client: Client): void {
    if (this.#client !== client || this.#open === undefined) return
    this.#client = undefined
    this.#closeUnused(client)
  }

  async close(): Promise<void> {
    this.#closing.abort(this.#closed())
    const client = this.#client ?? (await this.#opening?.catch(() => undefined))
    this.#client = undefined
    const all = new Set([...this.#requests.keys(), ...(client ? [client] : [])])
    await Promise.all([...all].map((each) => each.close()))
  }

  #closed(): BobbinError<'E_MCP_UNAVAILABLE'> {
    return this.unavailable('The tools of this server were closed.')
  }

  #closeUnused(client: Client): void {
    const isOurs = this.#open !== undefined
    if (!isOurs || this.#client === client || this.#requests.has(client)) return
    client.close().catch(() => undefined)
  }

  async #reopen(): Promise<Client> {
    const open = this.#open
    if (open === undefined) {
      const wayOut =
        'Pass `mcpTools` a function that opens a client, so that it can be opened again'
      throw this.unavailable(`The connection was lost. ${wayOut}.`)
    }
    const { signal } = this.#closing
    let problem: unknown
    for (let tries = 0; tries < TRIES; tries += 1) {
      await pause(this.#failures, signal)
      if (signal.aborted) throw this.#closed()
      try {
        const client = requireClient(await within(OPEN_MS, open, signal))
        this.#failures = 0
        return this.#use(client)
      } catch (error) {
        if (signal.aborted) throw this.#closed()
        if (isBobbinError(error, 'E_INVALID_INPUT')) throw error
        // Only a person can help.
        const signIn = asSignIn(error)
        if (signIn !== undefined) throw signIn
        this.#failures += 1
        problem = error
        // A server that is silent for so long is silent again.
        if (error instanceof SilentServerError) break
      }
    }
    const why = brief(failureText(problem), 500).replace(/\.$/, '')
    throw this.unavailable(`The connection could not be opened: ${why}.`, problem)
  }

  unavailable(reason: string, cause?: unknown): BobbinError<'E_MCP_UNAVAILABLE'> {
    const message = `${this.#name}: ${reason}`
    return new BobbinError('E_MCP_UNAVAILABLE', message, { reason }, { cause })
  }

  #use(client: Client): Client {
    this.#client = client
    const name = client.getServerVersion()?.name
    if (typeof name === 'string') this.#name = `MCP server \`${shownName(name, 60)}\``
    const before = client.onclose
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is not an event target
    client.onclose = () => {
      before?.()
      if (this.#client === client) this.#client = undefined
    }
    endWithStreams(client)
    this.#onOpen(client, this.#closing.signal)
    return client
  }
}

/** What a failed request says. */
export const failureText = (error: unknown): string =>
  isRefusal(error) ? `The server wants a token, and ${refusalText(error)}` : thrownText(error)

/** Waits before the next try: not at all before the first, then longer each time, and not all clients at once. */
async function pause(failures: number, signal: AbortSignal): Promise<void> {
  if (failures === 0) return
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
  await delay(ms * (0.5 + Math.random() / 2), signal)
}

class SilentServerError extends Error {
  override name = 'SilentServerError'
}

/** Opens a client in a limited time. Ends the opening after that time, or when the signal aborts. */
async function within(ms: number, open: Open, signal: AbortSignal): Promise<unknown> {
  const ended = new AbortController()
  const end = (reason: unknown) => ended.abort(reason)
  const late = new SilentServerError(`no answer within ${ms / 1000} s`)
  const timer = setTimeout(end, ms, late)
  const stop = () => end(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  const opening = (async () => open(ended.signal))()
  try {
    return await orAborted(opening, ended.signal)
  } catch (error) {
    // A client that comes too late is not left open.
    opening
      .then(requireClient)
      .then((client) => client.close())
      .catch(() => undefined)
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** Waits for work that others wait for too, until the own signal aborts. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave = () => {}
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
