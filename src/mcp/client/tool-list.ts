import type { Client } from '@modelcontextprotocol/client'
import { delay } from '../../core/delay.ts'
import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { asSignIn } from '../access/sign-in.ts'
import { type Connection, failureText, orAborted } from './connection.ts'
import { type Definition, readDefinition } from './definition.ts'
import { fateOf } from './fate.ts'
import { isJsonObject } from './safe-schema.ts'
import { shownBriefly, shownName } from './stranger-text.ts'

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

/** Which tools of a server are named, and how names are written to models. */
export interface NamedTools {
  readonly only?: readonly string[] | undefined
  readonly effects?: Readonly<Record<string, unknown>> | undefined
  readonly prefix: string
}

const MAX_PAGES = 500
/** How much of a list is read, and how much of its definitions is offered to a model. */
const MAX_LIST = 32 * 1024 * 1024
const MAX_OFFERED = 1024 * 1024
const MAX_LISTED = 20_000
/** How many tools are offered to a model at most. */
const MAX_TOOLS = 512
const MAX_PROBLEMS = 100
const LIST_MS = 30_000
/** A server that says without end that its list changed is read at ever longer intervals. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 30_000

/** The list of a server's tools: read whole, page by page, and again when the server says that it changed. */
export class ToolList {
  readonly #connection: Connection
  readonly #named: NamedTools
  readonly #onChange: (listing: Listing) => void
  #current: Listing | undefined
  #reading: Promise<Listing> | undefined
  #isStale = false
  #pauseMs = 0
  #changedAt = Number.NEGATIVE_INFINITY

  constructor(connection: Connection, named: NamedTools, onChange: (listing: Listing) => void) {
    this.#connection = connection
    this.#named = named
    this.#onChange = onChange
  }

  /** Reads the list anew. Those who ask at the same time share one reading. */
  async read(signal: AbortSignal): Promise<Listing> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined
    })
    return orAborted(this.#reading, signal)
  }

  /** The server says that its list changed. */
  changed(): void {
    if (this.#isStale) return
    this.#isStale = true
    const before = this.#reading ?? Promise.resolve()
    const again = async () => {
      await Promise.all([before.catch(() => undefined), this.#pause()])
      this.#isStale = false
      await this.read(this.#connection.closing)
    }
    // The old list stays if the new one cannot be read; the next call finds out.
    again().catch(() => undefined)
  }

  /** Does not wait at first; then longer each time, until the server is quiet for a while. */
  async #pause(): Promise<void> {
    const quietMs = performance.now() - this.#changedAt
    const isOften = quietMs < 2 * this.#pauseMs + 1_000
    const longer = Math.min(Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs), LONGEST_PAUSE_MS)
    this.#pauseMs = isOften ? longer : 0
    if (isOften) await delay(this.#pauseMs, this.#connection.closing)
    this.#changedAt = performance.now()
  }

  /** Refuses a definition that is not what the server says now. */
  async requireSame({ name, digest }: Definition, signal: AbortSignal): Promise<void> {
    const { definitions } = await this.read(signal)
    if (definitions.get(name)?.digest === digest) return
    const message = `Refused: the server has changed the definition of \`${shownBriefly(name, 100)}\` since it was offered. Nothing was sent. The new definition counts from the next turn.`
    throw new BobbinError('E_MCP_CHANGED', message, { tool: name })
  }

  async #readAll(): Promise<Listing> {
    const listing = this.#readTools(await this.#ask())
    const isSame = this.#current !== undefined && sameListing(this.#current, listing)
    if (!isSame) {
      this.#current = listing
      this.#onChange(listing)
    }
    return listing
  }

  /** Reads all pages. Asks a second time over another connection if the first was lost without a sign. */
  async #ask(): Promise<readonly unknown[]> {
    const connection = this.#connection
    for (let tries = 1; ; tries += 1) {
      const client = await connection.client(connection.closing)
      const signal = AbortSignal.timeout(LIST_MS)
      try {
        return await listed(client, connection, signal)
      } catch (error) {
        const signIn = asSignIn(error)
        if (signIn !== undefined || isBobbinError(error)) throw signIn ?? error
        const isLost = ['lost', 'not-sent'].includes(fateOf(error))
        if (isLost) connection.lost(client)
        if (isLost && !signal.aborted && tries === 1) continue
        const late = `no answer within ${LIST_MS / 1_000} s`
        const why = signal.aborted ? late : shownBriefly(failureText(error), 300)
        throw connection.unavailable(`The list of tools could not be read: ${why}`, error)
      }
    }
  }

  #readTools(tools: readonly unknown[]): Listing {
    const definitions = new Map<string, Definition>()
    const problems: McpProblem[] = []
    const only = this.#named.only && new Set(this.#named.only)
    let room = MAX_OFFERED
    for (const tool of tools) {
      const name = nameOf(tool)
      if (only !== undefined && !only.has(name)) continue
      try {
        if (definitions.has(name)) throw new Error('the server offers two tools of this name')
        const definition = readDefinition(tool)
        const size = sizeOf([definition.description, definition.input.shown], room)
        if (size > room) throw new Error(NO_ROOM)
        room -= size
        definitions.set(name, definition)
      } catch (error) {
        if (problems.length === MAX_PROBLEMS) continue
        problems.push({ tool: shownName(name, 100), problem: thrownText(error) })
      }
    }
    if (definitions.size > MAX_TOOLS) {
      const rule = `offers ${definitions.size} tools; name those that you need in \`only\`, at most ${MAX_TOOLS}`
      throw invalid(this.#connection, rule)
    }
    problems.push(...missing(this.#named, new Set(tools.map(nameOf))))
    return { definitions, problems }
  }
}

const NO_ROOM = `the definitions of this server take more than ${MAX_OFFERED} characters: name the tools that you need in \`only\``

/** The names in the options that the server does not have. */
function missing(
  { only = [], effects = {}, prefix }: NamedTools,
  known: ReadonlySet<string>,
): readonly McpProblem[] {
  const names = new Set([...only, ...Object.keys(effects)])
  const wrong = [...names].filter((name) => !known.has(name)).slice(0, MAX_PROBLEMS)
  return wrong.map((name) => {
    const isPrefixed = prefix !== '' && name.startsWith(prefix)
    const wayOut = isPrefixed ? ': write names as the server does, without the prefix' : ''
    return { tool: shownName(name, 100), problem: `the server has no such tool${wayOut}` }
  })
}

/** About how many characters a value takes as JSON, counted up to a limit. It may be nested deeper than a call stack. */
function sizeOf(value: unknown, limit: number): number {
  const left: unknown[] = [value]
  let size = 0
  while (left.length > 0 && size <= limit) {
    const part = left.pop()
    size += typeof part === 'string' ? part.length + 2 : 4
    if (Array.isArray(part)) {
      for (const each of part) left.push(each)
    } else if (isJsonObject(part)) {
      for (const key of Object.keys(part)) {
        size += key.length + 3
        left.push(part[key])
      }
    }
  }
  return size
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
  let room = MAX_LIST
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await connection.request(client, () =>
      client.request({ method: 'tools/list', params }, { signal, timeout: LIST_MS }),
    )
    if (tools.length + answer.tools.length > MAX_LISTED) {
      throw invalid(connection, `lists more than ${MAX_LISTED} tools`)
    }
    room -= sizeOf(answer.tools, room)
    if (room < 0) throw invalid(connection, `has a list of more than ${MAX_LIST} characters`)
    tools.push(...answer.tools)
    cursor = answer.nextCursor
    if (cursor === undefined) return tools
    if (seen.has(cursor)) throw invalid(connection, 'gives the same page of its list again')
    seen.add(cursor)
  }
  throw invalid(connection, `has more than ${MAX_PAGES} pages in its list of tools`)
}

const invalid = ({ name }: Connection, rule: string) =>
  new BobbinError('E_MCP_INVALID', `${name} ${rule}.`, { rule })

const nameOf = (tool: unknown): string => {
  const name: unknown = Object(tool) === tool ? Reflect.get(tool as object, 'name') : undefined
  return typeof name === 'string' ? name : ''
}

const sameListing = (a: Listing, b: Listing): boolean =>
  a.definitions.size === b.definitions.size &&
  [...a.definitions].every(([name, { digest }]) => b.definitions.get(name)?.digest === digest) &&
  JSON.stringify(a.problems) === JSON.stringify(b.problems)
