import type { OAuthDiscoveryState } from '@modelcontextprotocol/client'
import { sha256Hex } from '#hash'

/** Where the tokens of one person are kept: a `Map`, or a table of yours. Values are secrets. */
export interface McpOAuthStorage {
  get(key: string): string | null | undefined | Promise<string | null | undefined>
  set(key: string, value: string): unknown
  delete(key: string): unknown
}

/** JSON under the keys of one server. */
export class KeptValues {
  readonly #storage: McpOAuthStorage
  readonly #prefix: string

  constructor(storage: McpOAuthStorage, server: string) {
    this.#storage = storage
    this.#prefix = `mcp-oauth-${sha256Hex(server).slice(0, 16)}`
  }

  /** A kept value. An unreadable value counts as missing, and leads to a new sign-in. */
  async get(name: string): Promise<unknown> {
    const text = await this.#storage.get(`${this.#prefix}-${name}`)
    try {
      return typeof text === 'string' ? JSON.parse(text) : undefined
    } catch {
      return undefined
    }
  }

  async set(name: string, value: unknown): Promise<void> {
    await this.#storage.set(`${this.#prefix}-${name}`, JSON.stringify(value))
  }

  async delete(name: string): Promise<void> {
    await this.#storage.delete(`${this.#prefix}-${name}`)
  }
}

/** A sign-in that a person was asked for: what it takes to finish it, in any process. */
export interface OpenSignIn {
  readonly state: string
  readonly verifier: string
  /** Which authorization server it was that the person was sent to. */
  readonly discovery: OAuthDiscoveryState
  readonly scope?: string
}

const NAMES = 'sign-ins'
/** How many sign-ins may be open at once. An older page stops working. */
export const MAX_OPEN = 64

/**
 * The sign-ins that were asked for and not finished. Each has a key of its own, so that no other process can overwrite it;
 * the list of their states only says which to drop.
 */
export class OpenSignIns {
  readonly #kept: KeptValues
  #last: Promise<unknown> = Promise.resolve()

  constructor(kept: KeptValues) {
    this.#kept = kept
  }

  async add(signIn: OpenSignIn): Promise<void> {
    await this.#alone(async () => {
      await this.#kept.set(nameOf(signIn.state), signIn)
      const states = [signIn.state, ...(await this.#states())]
      for (const old of states.slice(MAX_OPEN)) await this.#kept.delete(nameOf(old))
      await this.#kept.set(NAMES, states.slice(0, MAX_OPEN))
    })
  }

  /** The sign-in of this state, once. */
  async take(state: string): Promise<OpenSignIn | undefined> {
    return this.#alone(async () => {
      const found = await this.#kept.get(nameOf(state))
      if (found === undefined) return undefined
      await this.#kept.delete(nameOf(state))
      const states = await this.#states()
      await this.#kept.set(
        NAMES,
        states.filter((each) => each !== state),
      )
      return found as OpenSignIn
    })
  }

  async #states(): Promise<readonly string[]> {
    const states = await this.#kept.get(NAMES)
    return Array.isArray(states) ? states.map(String) : []
  }

  /** One change after the other: a change reads what the one before wrote. */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    const next = this.#last.then(change)
    this.#last = next.catch(() => undefined)
    return next
  }
}

/** A callback may bring any text as its state: the storage sees only its digest. */
const nameOf = (state: string) => `sign-in-${sha256Hex(state).slice(0, 32)}`
