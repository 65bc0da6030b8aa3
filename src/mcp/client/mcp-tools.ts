import type { Client } from '@modelcontextprotocol/client'
import { OPEN_LINK } from '../../artifacts/spooled-link.ts'
import { wrongInput } from '../../core/error/wrong-input.ts'
import type { JsonObject } from '../../core/json/json.ts'
import {
  atLeast,
  isFunction,
  type OptionTable,
  option,
  optionOr,
  readOptions,
} from '../../core/options.ts'
import { TRUST_TIERS, type TrustTier } from '../../core/trust.ts'
import { inlineBySize } from '../../prompt/inline-by-size.ts'
import type { Artifact } from '../../spool/artifact.ts'
import { Tool } from '../../tools/tool.ts'
import { EFFECTS, type Effect, type ToolOptions } from '../../tools/tool-options.ts'
import { callTool, type ServerScope } from './call-tool.ts'
import { type ClientSource, Connection, requireClient } from './connection.ts'
import type { Definition, McpToolInfo } from './definition.ts'
import { Flights } from './flights.ts'
import { checkedInput } from './input-check.ts'
import { LinkedResources } from './linked-resource.ts'
import { effectOf, needsApproval } from './policy.ts'
import { isJsonObject } from './safe-schema.ts'
import { type Listing, type McpProblem, ToolList } from './tool-list.ts'
import { projectedName } from './tool-name.ts'
import { watchList } from './watch-list.ts'

/** How the tools of a server are offered. */
export interface McpToolsOptions {
  /** Stands before every name, so that the tools of several servers do not meet. */
  readonly prefix?: string
  /** Whether the server's annotations count. Without it, every tool is a `write`. */
  readonly trusted?: boolean
  /** The trust of results; `third-party` unless given. */
  readonly trust?: TrustTier
  /** Your own word about the effect of tools, by their names on the server. */
  readonly effects?: Readonly<Record<string, Effect>>
  /** Whether calls need approval, whatever the annotations say. */
  readonly approval?: boolean | ((tool: McpToolInfo) => boolean)
  /** Offers only these tools, by their names on the server. */
  readonly only?: readonly string[]
  /** How many calls of this server run at once; eight unless given. */
  readonly concurrency?: number
  /** How long a call may take; what the runner allows unless given. */
  readonly timeoutMs?: number
}

/** The tools of a server. Each iteration gives those of the newest list that the server sent. */
export interface McpTools extends Iterable<Tool> {
  /** What the server offers and cannot be used, and why. */
  readonly problems: readonly McpProblem[]
  /** Calls `listener` when the list has changed. The function that is given back ends that. */
  onChange(listener: () => void): () => void
  /** Ends the connection. */
  close(): Promise<void>
}

const isNames = (value: unknown) =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')

const isEffects = (value: unknown) =>
  isJsonObject(value) &&
  Object.values(value).every((effect) => (EFFECTS as readonly unknown[]).includes(effect))

const OPTIONS = {
  prefix: optionOr(
    '',
    (value) => typeof value === 'string' && /^[a-zA-Z0-9_-]{0,32}$/.test(value),
    'must be at most 32 letters, digits, underscores or hyphens',
  ),
  trusted: optionOr(false, (value) => typeof value === 'boolean', 'must be a boolean'),
  trust: optionOr<TrustTier>(
    'third-party',
    (value) => (TRUST_TIERS as readonly unknown[]).includes(value),
    `must be one of ${TRUST_TIERS.join(', ')}`,
  ),
  effects: option<Readonly<Record<string, Effect>>>(
    isEffects,
    `must be an object from names of the server's tools to one of ${EFFECTS.join(', ')}`,
  ),
  approval: option<boolean | ((tool: McpToolInfo) => boolean)>(
    (value) => typeof value === 'boolean' || isFunction(value),
    'must be a boolean or a function of a tool',
  ),
  only: option<readonly string[]>(isNames, "must be a list of names of the server's tools"),
  concurrency: atLeast(1, 8),
  timeoutMs: option<number>(
    (value) => Number.isSafeInteger(value) && Number(value) > 0,
    'must be a positive whole number of milliseconds',
  ),
} satisfies OptionTable<McpToolsOptions>

/** Larger results are handles. */
const INLINE_BYTES = 16_384

/**
 * The tools of an MCP server, from a connected client of `@modelcontextprotocol/client`, or from a function that opens
 * one until its signal aborts: only then can a lost connection be opened again.
 */
export async function mcpTools(
  client: Client | (() => Promise<Client>) | ((signal: AbortSignal) => Promise<Client>),
  options: McpToolsOptions = {},
): Promise<McpTools> {
  if (typeof client !== 'function') requireClient(client)
  const settings = readSettings(options)
  return new ServerTools(client, settings).opened()
}

class ServerTools implements McpTools {
  readonly #settings: ReturnType<typeof readSettings>
  readonly #scope: ServerScope
  readonly #resources: LinkedResources
  #tools: readonly Tool[] = []
  #problems: readonly McpProblem[] = []
  readonly #listeners = new Set<() => void>()

  constructor(source: ClientSource, settings: ReturnType<typeof readSettings>) {
    this.#settings = settings
    const flights = new Flights()
    const onOpen = (client: Client, closing: AbortSignal) => {
      flights.listen(client)
      watchList(client, closing, () => list.changed())
    }
    const connection = new Connection(source, settings.concurrency, onOpen)
    const list = new ToolList(connection, settings, (listing) => this.#offer(listing))
    this.#scope = { connection, list, flights, trust: settings.trust }
    this.#resources = new LinkedResources(connection)
  }

  async opened(): Promise<this> {
    try {
      await this.#scope.list.read(new AbortController().signal)
    } catch (error) {
      await this.close().catch(() => undefined)
      throw error
    }
    return this
  }

  [Symbol.iterator](): Iterator<Tool> {
    return this.#tools[Symbol.iterator]()
  }

  get problems(): readonly McpProblem[] {
    return this.#problems
  }

  onChange(listener: () => void): () => void {
    if (!isFunction(listener)) throw wrongInput('onChange', 'listener', 'must be a function')
    const entry = () => listener()
    this.#listeners.add(entry)
    return () => this.#listeners.delete(entry)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    this.#scope.flights.close()
    await this.#scope.connection.close()
  }

  #offer({ definitions, problems }: Listing): void {
    const tools: Tool[] = []
    const names = new Set<string>()
    const found = [...problems]
    for (const definition of definitions.values()) {
      const tool = this.#toolOf(definition)
      const problem = names.has(tool.name) ? 'another tool has the same name' : reserved(tool)
      if (problem !== undefined) {
        found.push({ tool: definition.name, problem })
        continue
      }
      names.add(tool.name)
      tools.push(tool)
    }
    this.#tools = tools
    this.#problems = found
    for (const listener of this.#listeners) attempt(listener)
  }

  #toolOf(definition: Definition): Tool {
    const { prefix, trust, timeoutMs } = this.#settings
    const effect = effectOf(definition, this.#settings)
    const asks = needsApproval(definition, this.#settings)
    const options: ToolOptions = {
      name: projectedName(prefix, definition.name),
      description: definition.description,
      inputSchema: checkedInput(definition.input),
      effect,
      trust,
      approval: asks,
      inline: inlineBySize({ bytes: INLINE_BYTES }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      meta: { mcp: { tool: definition.name, definition: definition.digest } },
      handler: (args, ctx) =>
        callTool(this.#scope, { definition, effect, asks }, args as JsonObject, ctx),
    }
    return new ServerTool(options, this.#resources)
  }
}

/** Why the kit cannot have a tool of this name. */
const reserved = ({ name }: Tool): string | undefined =>
  RESERVED.test(name)
    ? `the name \`${name}\` belongs to a tool of the kit: give \`mcpTools\` a \`prefix\``
    : undefined

const RESERVED = /^(artifact_.*|hand_over)$/

/** A tool whose links stand for resources of its server. */
class ServerTool extends Tool {
  readonly #resources: LinkedResources

  constructor(options: ToolOptions, resources: LinkedResources) {
    super(options)
    this.#resources = resources
  }

  async [OPEN_LINK](link: Artifact, signal: AbortSignal): Promise<Artifact> {
    return this.#resources.open(link, signal)
  }
}

/** Calls a listener. If it throws, the other listeners are still called. */
function attempt(listener: () => void): void {
  try {
    listener()
  } catch {}
}

const readSettings = (options: McpToolsOptions) =>
  readOptions({ of: 'mcpTools', code: 'E_INVALID_INPUT' }, OPTIONS, options)
