import type {
  CallToolResult,
  McpHttpHandler,
  Server,
  Transport,
} from '@modelcontextprotocol/server'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { isIterable, wrongInput } from '../../core/error/wrong-input.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { hasMethods, type OptionTable, option, optionOr, readOptions } from '../../core/options.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { RunnerStore } from '../../store/store.ts'
import { Tool } from '../../tools/tool.ts'
import type { Telemetry } from '../../turn/events/telemetry.ts'
import type { TurnRunner } from '../../turn/turn-runner.ts'
import { isJsonObject } from '../client/safe-schema.ts'
import { agentTool } from './agent-tool.ts'
import { refusedRequest } from './request-check.ts'
import { RESULT_TEMPLATE, readResult } from './resources.ts'
import { askResult, resultQueries } from './result-queries.ts'
import { ServedCalls, type ServedScope, spoolOf } from './served-call.ts'
import { type CallState, readState } from './signed-state.ts'

/** What a server offers, and to whom. */
export interface McpServerOptions {
  /** The name and the version that clients see. */
  readonly name?: string
  readonly version?: string
  /** The tools that clients may call; read anew for each request, so that `mcpTools` can be passed on. */
  readonly tools: Iterable<Tool>
  /** Agents by name; each is a tool that takes a message and answers in text. */
  readonly agents?: Readonly<Record<string, TurnRunner>>
  /** Where the records of calls go; in memory, and only the last ones, unless given. */
  readonly store?: RunnerStore
  /**
   * `'client'` lets the client decide on calls that need approval. Without it they are refused: a client that answers by itself
   * approves itself.
   */
  readonly approvals?: 'client'
  /** In whose name the answers of clients are stored. */
  readonly decidedBy?: string
  /** Traces the calls of clients inside their own traces: `telemetry()` of `bobbin-adk/otel`. */
  readonly telemetry?: Telemetry
  /** Host names under which the server is reached over HTTP, beside those of this machine. */
  readonly hosts?: readonly string[]
}

/** A server for MCP clients. */
export interface McpServer {
  /** Serves one connection, such as a `StdioServerTransport`. */
  connect(transport: Transport): Promise<void>
  /** Serves one HTTP request. */
  handle(request: Request): Promise<Response>
  close(): Promise<void>
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''

const OPTIONS = {
  name: optionOr('bobbin', isText, 'must be a name'),
  version: optionOr('1.0.0', isText, 'must be a version'),
  tools: option<Iterable<Tool>>(
    (value) => isIterable(value),
    'must be a list of tools: `[new Tool({ … })]`',
  ),
  agents: optionOr<Readonly<Record<string, TurnRunner>>>(
    {},
    (value) => isJsonObject(value) && Object.values(value).every(hasMethods('run', 'resume')),
    'must be an object of runners: `{ support: new TurnRunner({ … }) }`',
  ),
  store: option<RunnerStore>(
    hasMethods('acquire', 'append', 'entries'),
    'must be a store, such as `memoryStore()`',
  ),
  approvals: option<'client'>((value) => value === 'client', "must be `'client'`, or be left out"),
  decidedBy: optionOr('mcp-client', isText, 'must be a text that names who decides'),
  telemetry: option<Telemetry>(hasMethods('turn'), 'must be `telemetry()` of `bobbin-adk/otel`'),
  hosts: optionOr<readonly string[]>(
    [],
    (value) => Array.isArray(value) && value.every(isText),
    "must be a list of host names, such as `['mcp.example.com']`",
  ),
} satisfies OptionTable<McpServerOptions>

/** How many calls a store in memory remembers. */
const MAX_REMEMBERED = 200

/** Serves tools and agents to MCP clients over stdio and streamable HTTP, protocols 2026-07-28 and before. */
export function mcpServer(options: McpServerOptions): McpServer {
  const settings = readOptions({ of: 'mcpServer', code: 'E_INVALID_INPUT' }, OPTIONS, options)
  const { tools, agents, approvals, decidedBy, hosts, name, version } = settings
  if (tools === undefined) throw wrongInput('mcpServer', 'tools', 'must be a list of tools')
  const policy = { approvals, decidedBy }
  const own = Object.entries(agents).map(([agent, runner]) => agentTool(agent, runner, policy))
  const { store, remember } = settings.store
    ? { store: settings.store, remember: () => undefined }
    : shortMemory()
  const scope: ServedScope = {
    ...policy,
    store,
    telemetry: settings.telemetry,
    spool: spoolOf(store),
    remember,
    tools: () => toolsIn(tools, own),
  }
  // Wrong tools are refused here, and not at the first request.
  scope.tools()
  const calls = new ServedCalls(scope)
  const serve = async () => served(await loadServer(), { name, version }, scope, calls)
  let handler: Promise<McpHttpHandler> | undefined
  const open: { close(): Promise<void> }[] = []
  return {
    async connect(transport) {
      const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
      open.push(serveStdio(serve, { transport }))
    },
    async handle(request) {
      const refused = refusedRequest(request, hosts)
      if (refused !== undefined) return refused
      handler ??= loadServer().then(({ createMcpHandler }) => createMcpHandler(serve))
      return (await handler).fetch(request)
    },
    async close() {
      await (await handler)?.close()
      await Promise.all(open.map((each) => each.close()))
    },
  }
}

function toolsIn(tools: Iterable<Tool>, agents: readonly Tool[]): readonly Tool[] {
  const all = [...tools, ...agents]
  const wrong = all.find((tool) => !Tool.isTool(tool))
  if (wrong !== undefined)
    throw wrongInput('mcpServer', 'tools', 'must hold tools and nothing else')
  return all
}

/** A store that forgets all but the last calls. */
function shortMemory(): { store: RunnerStore; remember: (conversation: string) => void } {
  const store = memoryStore()
  const known: string[] = []
  return {
    store,
    remember(conversation) {
      known.push(conversation)
      const oldest = known.length > MAX_REMEMBERED ? known.shift() : undefined
      if (oldest !== undefined) store.delete(oldest).catch(() => undefined)
    },
  }
}

type Sdk = Awaited<ReturnType<typeof loadServer>>

/** The server object for one connection or request. */
function served(
  { Server: ServerClass, ProtocolError }: Sdk,
  info: { readonly name: string; readonly version: string },
  scope: ServedScope,
  calls: ServedCalls,
): Server {
  const server = new ServerClass(info, {
    capabilities: { tools: {}, resources: {} },
    requestState: { verify: (state) => readState(scope.store, state) },
  })
  server.setRequestHandler('tools/list', () => {
    const tools = scope.tools()
    // A tool that may give a handle here may give a link there.
    const queries = tools.some(({ inline }) => inline !== true) ? [...resultQueries()] : []
    return { tools: [...tools, ...queries].map(definitionOf) }
  })
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const args = (params.arguments ?? {}) as JsonObject
    const tool = scope.tools().find((each) => each.name === params.name)
    if (tool === undefined) {
      const answer = await queryAnswer(scope, params.name, args, ctx.mcpReq.signal)
      if (answer !== undefined) return answer
      throw new ProtocolError(INVALID, `Unknown tool: ${params.name}`)
    }
    const call = { tool: tool.name, args }
    const state = ctx.mcpReq.requestState<CallState>()
    const result = state ? calls.resume(call, state, ctx) : calls.run(call, ctx)
    return (await result) as never
  })
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [TEMPLATE] }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const contents = await readResult(scope, uri)
    if (contents !== undefined) return { contents: [contents] }
    throw new ProtocolError(NOT_FOUND, `Resource not found: ${uri}`, { uri })
  })
  return server
}

/** The answer of a tool that queries a large result. */
async function queryAnswer(
  scope: ServedScope,
  name: string,
  args: JsonObject,
  signal: AbortSignal,
): Promise<CallToolResult | undefined> {
  try {
    const text = await askResult(scope, name, args, signal)
    return text === undefined ? undefined : { content: [{ type: 'text', text }] }
  } catch (error) {
    return { content: [{ type: 'text', text: thrownText(error) }], isError: true }
  }
}

const INVALID = -32_602
const NOT_FOUND = -32_002

const TEMPLATE = {
  uriTemplate: RESULT_TEMPLATE,
  name: 'result',
  description: 'A result that was too large to be sent whole. `start` and `end` count bytes.',
}

function definitionOf({ name, description, jsonSchema, effect }: Tool) {
  return {
    name,
    description,
    inputSchema: withoutHeaders(jsonSchema) as { type: 'object' },
    annotations: {
      readOnlyHint: effect === 'read',
      ...(effect !== 'read' && { idempotentHint: effect === 'idempotent' }),
    },
  }
}

/** A schema that asks for no HTTP headers: tools of another server may, and ours would have to check them. */
function withoutHeaders(part: JsonValue): JsonValue {
  if (Array.isArray(part)) return part.map((each: JsonValue) => withoutHeaders(each))
  if (!isJsonObject(part)) return part
  const left = Object.entries(part).filter(
    ([name, value]) => name !== 'x-mcp-header' || typeof value !== 'string',
  )
  return Object.fromEntries(left.map(([name, value]) => [name, withoutHeaders(value)]))
}

async function loadServer() {
  try {
    return await import('@modelcontextprotocol/server')
  } catch (cause) {
    const name = '@modelcontextprotocol/server'
    const message = `The \`${name}\` package was not found: run \`npm install ${name}\`.`
    const reason = thrownText(cause)
    throw new BobbinError('E_MCP_UNAVAILABLE', message, { reason }, { cause })
  }
}
