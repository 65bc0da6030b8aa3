import type { Client } from '@modelcontextprotocol/client'
import { brief } from '../../core/error/cut-text.ts'
import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { wrongInput } from '../../core/error/wrong-input.ts'
import { hasMethods } from '../../core/options.ts'
import { asSignIn, isRefusal, refusalText } from '../access/sign-in.ts'
import { Slots } from './slots.ts'
import { shownBriefly } from './stranger-text.ts'

/** A connected client, or a function that opens one: only then can a lost connection be opened again. */
export type ClientSource = Client | (() => Promise<Client>)

const isClient = hasMethods('callTool', 'request', 'close', 'getServerVersion')

/** Refuses what is not a client. */
export function requireClient(value: unknown): Client {
  if (isClient(value)) return value as Client
  const rule =
    'must be a connected client of `@modelcontextprotocol/client`, or a function that opens one'
  throw wrongInput('mcpTools', 'client', rule)
}

/** How long opening may take. */
const OPEN_MS = 30_000
/** How often one call tries to open a connection. */
const TRIES = 3
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 30_000

/** The way to one server: opens the client, notices when it is lost, and limits how many calls run at once. */
export class Connection {
  readonly slots: Slots
  readonly #open: (() => Promise<Client>) | undefined
  readonly #onOpen: (client: Client) => void
  #client: Client | undefined
  /** How many requests run on each client. A lost one stays here until its last request has ended. */
  readonly #requests = new Map<Client, number>()
  #opening: Promise<Client> | undefined
  #failures = 0
  #isClosed = false
  #name = 'MCP server'

  constructor(source: ClientSource, concurrency: number, onOpen: (client: Client) => void) {
    this.slots = new Slots(concurrency)
    this.#onOpen = onOpen
    if (typeof source === 'function') this.#open = source
    else this.#use(source)
  }

  /** The name that the server gives itself: bounded and visible, and still a stranger's word. */
  get name(): string {
    return this.#name
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
    } finally {
      const left = (this.#requests.get(client) ?? 1) - 1
      if (left > 0) this.#requests.set(client, left)
      else this.#requests.delete(client)
      this.#closeUnused(client)
    }
  }

  /** Takes a client out of use. Its other requests may still be answered, so it is closed after the last of them. */
  lost(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#closeUnused(client)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client ?? (await this.#opening?.catch(() => undefined))
    this.#client = undefined
    const all = new Set([...this.#requests.keys(), ...(client ? [client] : [])])
    await Promise.all([...all].map((each) => each.close()))
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
    let problem: unknown
    for (let tries = 0; tries < TRIES; tries += 1) {
      await pause(this.#failures)
      if (this.#isClosed) throw this.unavailable('The tools of this server were closed.')
      try {
        const client = requireClient(await within(OPEN_MS, open()))
        if (this.#isClosed) await client.close()
        this.#failures = 0
        return this.#use(client)
      } catch (error) {
        if (isBobbinError(error, 'E_INVALID_INPUT')) throw error
        // Only a person can help.
        const signIn = asSignIn(error)
        if (signIn !== undefined) throw signIn
        this.#failures += 1
        problem = error
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
    if (typeof name === 'string') this.#name = `MCP server \`${shownBriefly(name, 60)}\``
    const before = client.onclose
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is not an event target
    client.onclose = () => {
      before?.()
      if (this.#client === client) this.#client = undefined
    }
    this.#onOpen(client)
    return client
  }
}

/** What a failed request says. */
export const failureText = (error: unknown): string =>
  isRefusal(error) ? `The server wants a token, and ${refusalText(error)}` : thrownText(error)

/** Waits before the next try: not at all before the first, then longer each time, and not all clients at once. */
async function pause(failures: number): Promise<void> {
  if (failures === 0) return
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
  await new Promise((resolve) => setTimeout(resolve, ms * (0.5 + Math.random() / 2)))
}

async function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, over])
  } catch (error) {
    // A client that comes too late is not left open.
    work
      .then(requireClient)
      .then((client) => client.close())
      .catch(() => undefined)
    throw error
  } finally {
    clearTimeout(timer)
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
