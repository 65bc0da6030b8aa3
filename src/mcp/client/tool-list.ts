import type { Client } from '@modelcontextprotocol/client'
import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { asSignIn } from '../access/sign-in.ts'
import { type Connection, failureText, orAborted } from './connection.ts'
import { type Definition, readDefinition } from './definition.ts'
import { shownBriefly } from './stranger-text.ts'

/** A tool of the server that is not offered, and why. */
export interface McpProblem {
  /** Its name on the server, bounded and visible. */
  readonly tool: string
  readonly problem: string
}

/** What a server offers, as far as it can be used. */
export interface Listing {
  readonly definitions: ReadonlyMap<string, Definition>
  readonly problems: readonly McpProblem[]
}

const MAX_PAGES = 500
const MAX_LISTED = 20_000
/** How many tools are offered to a model at most. */
const MAX_TOOLS = 512
const MAX_PROBLEMS = 100
const LIST_MS = 30_000

/** The list of a server's tools: read whole, page by page, and again when the server says that it changed. */
export class ToolList {
  readonly #connection: Connection
  readonly #only: ReadonlySet<string> | undefined
  readonly #onChange: (listing: Listing) => void
  #current: Listing | undefined
  #reading: Promise<Listing> | undefined
  #isStale = false

  constructor(
    connection: Connection,
    only: readonly string[] | undefined,
    onChange: (listing: Listing) => void,
  ) {
    this.#connection = connection
    this.#only = only && new Set(only)
    this.#onChange = onChange
  }

  /** Reads the list anew. Those who ask at the same time share one reading. */
  async read(signal: AbortSignal): Promise<Listing> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined
    })
    return orAborted(this.#reading, signal)
  }

  /** The server says that its list changed. A flood of such words makes one reading at a time. */
  changed(): void {
    if (this.#isStale) return
    this.#isStale = true
    const before = this.#reading ?? Promise.resolve()
    const again = async () => {
      await before.catch(() => undefined)
      this.#isStale = false
      await this.read(AbortSignal.timeout(LIST_MS))
    }
    // The old list stays if the new one cannot be read; the next call finds out.
    again().catch(() => undefined)
  }

  /** Refuses a definition that is not what the server says now. */
  async requireSame({ name, digest }: Definition, signal: AbortSignal): Promise<void> {
    const { definitions } = await this.read(signal)
    if (definitions.get(name)?.digest === digest) return
    const message = `Refused: the server has changed the definition of \`${shownBriefly(name, 100)}\` since it was offered. Nothing was sent. The new definition counts from the next turn.`
    throw new BobbinError('E_MCP_CHANGED', message, { tool: name })
  }

  async #readAll(): Promise<Listing> {
    const signal = AbortSignal.timeout(LIST_MS)
    const listing = this.#readTools(await this.#ask(signal))
    const isSame = this.#current !== undefined && sameListing(this.#current, listing)
    if (!isSame) {
      this.#current = listing
      this.#onChange(listing)
    }
    return listing
  }

  /** Asks a second time: the connection may have been lost without a sign. */
  async #ask(signal: AbortSignal): Promise<readonly unknown[]> {
    const connection = this.#connection
    const client = await connection.client(signal)
    try {
      return await listed(client, connection, signal)
    } catch (error) {
      if (!isBobbinError(error, 'E_MCP_UNAVAILABLE') || signal.aborted) throw error
      return listed(await connection.client(signal), connection, signal)
    }
  }

  #readTools(tools: readonly unknown[]): Listing {
    const definitions = new Map<string, Definition>()
    const problems: McpProblem[] = []
    for (const tool of tools) {
      const name = nameOf(tool)
      if (this.#only !== undefined && !this.#only.has(name)) continue
      try {
        if (definitions.has(name)) throw new Error('the server offers two tools of this name')
        definitions.set(name, readDefinition(tool))
      } catch (error) {
        if (problems.length === MAX_PROBLEMS) continue
        problems.push({ tool: shownBriefly(name, 100), problem: thrownText(error) })
      }
    }
    if (definitions.size > MAX_TOOLS) {
      const rule = `offers ${definitions.size} tools; name those that you need in \`only\`, at most ${MAX_TOOLS}`
      throw invalid(this.#connection, rule)
    }
    const missing = [...(this.#only ?? [])].filter((name) => !definitions.has(name))
    const known = new Set(problems.map(({ tool }) => tool))
    for (const name of missing.filter((each) => !known.has(each))) {
      problems.push({ tool: name, problem: 'the server has no such tool' })
    }
    return { definitions, problems }
  }
}

/** All pages of the list. */
async function listed(
  client: Client,
  connection: Connection,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const tools: unknown[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await asked(client, connection, params, signal)
    tools.push(...answer.tools)
    if (tools.length > MAX_LISTED) throw invalid(connection, `lists more than ${MAX_LISTED} tools`)
    cursor = answer.nextCursor
    if (cursor === undefined) return tools
    if (seen.has(cursor)) throw invalid(connection, 'gives the same page of its list again')
    seen.add(cursor)
  }
  throw invalid(connection, `has more than ${MAX_PAGES} pages in its list of tools`)
}

async function asked(
  client: Client,
  connection: Connection,
  params: { readonly cursor?: string },
  signal: AbortSignal,
) {
  try {
    const options = { signal, timeout: LIST_MS }
    return await connection.request(client, () =>
      client.request({ method: 'tools/list', params }, options),
    )
  } catch (error) {
    const signIn = asSignIn(error)
    if (signIn !== undefined) throw signIn
    // The next use opens another connection.
    connection.lost(client)
    const why = shownBriefly(failureText(error), 300)
    throw connection.unavailable(`The list of tools could not be read: ${why}`, error)
  }
}

const invalid = ({ name }: Connection, rule: string) =>
  new BobbinError('E_MCP_INVALID', `${name} ${rule}.`, { rule })

const nameOf = (tool: unknown): string => {
  const name: unknown = Object(tool) === tool ? Reflect.get(tool as object, 'name') : undefined
  return typeof name === 'string' ? name : ''
}

const sameListing = (a: Listing, b: Listing): boolean =>
  a.definitions.size === b.definitions.size &&
  [...a.definitions].every(([name, { digest }]) => b.definitions.get(name)?.digest === digest)
