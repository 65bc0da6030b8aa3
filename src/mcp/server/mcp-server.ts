import type { Transport } from '@modelcontextprotocol/server'
import { thrownText } from '../../core/error/thrown-text.ts'
import { isIterable, wrongInput } from '../../core/error/wrong-input.ts'
import { hasMethods, type OptionTable, option, optionOr, readOptions } from '../../core/options.ts'
import type { RunnerStore } from '../../store/store.ts'
import { Tool } from '../../tools/tool.ts'
import type { Telemetry } from '../../turn/events/telemetry.ts'
import type { TurnRunner } from '../../turn/turn-runner.ts'
import { refuseWrongHeaders } from '../client/argument-headers.ts'
import type { McpTools } from '../client/mcp-tools.ts'
import { isJsonObject } from '../client/safe-schema.ts'
import { agentTool } from './agent-tool.ts'
import { Connections } from './connections.ts'
import { HttpFace } from './http-face.ts'
import { protocolServer } from './protocol-server.ts'
import { isHost, refusedRequest } from './request-check.ts'
import { RunningCalls } from './running-calls.ts'
import type { Sdk } from './sdk.ts'
import { ServedCalls, type ServedScope, spoolOf } from './served-call.ts'
import { type McpRunnerOptions, requireServed } from './served-runner.ts'
import { shortMemory } from './short-memory.ts'
import { ToolChanges } from './tool-changes.ts'

/** What a server offers, and to whom. */
export interface McpServerOptions {
  /** The name and the version that clients see. */
  readonly name?: string
  readonly version?: string
  /**
   * The tools that clients may call; read anew for each request. If they have `onChange`, as those of `mcpTools` do, clients
   * hear of changes.
   */
  readonly tools: Iterable<Tool>
  /** Agents by name; each is a tool that takes a message and answers in text. */
  readonly agents?: Readonly<Record<string, TurnRunner>>
  /**
   * Options of the runner that runs calls of clients: `middleware`, `mayDecide`, `policy`, `secrets` and others that need no
   * model. An agent has those of its own runner.
   */
  readonly runner?: McpRunnerOptions
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
  /**
   * How many sessions are open at once over HTTP, for clients that speak a protocol before 2026-07-28; 1,000 unless given. With
   * 0 any process may answer any request of such a client, but the server cannot ask it.
   */
  readonly sessions?: number
}

/** A server for MCP clients. */
export interface McpServer {
  /** Serves one connection, such as a `StdioServerTransport`. */
  connect(transport: Transport): Promise<void>
  /** Serves one HTTP request. */
  handle(request: Request): Promise<Response>
  /** Tells clients that the list of tools changed. */
  toolsChanged(): void
  /** Aborts the calls that run, waits until their ends are stored, at most ten seconds, and ends all connections. */
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
  runner: optionOr<McpRunnerOptions>(
    {},
    isJsonObject,
    'must be an object of options of a runner, such as `{ middleware: [] }`',
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
    (value) => Array.isArray(value) && value.every(isHost),
    "must be a list of host names without ports, such as `['mcp.example.com']`; name each host: wildcards do not work",
  ),
  sessions: optionOr(
    1_000,
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    'must be a whole number of at least 0',
  ),
} satisfies OptionTable<McpServerOptions>

/** Serves tools and agents to MCP clients over stdio and streamable HTTP, protocols 2026-07-28 and before. */
export function mcpServer(options: McpServerOptions): McpServer {
  const settings = readOptions({ of: 'mcpServer', code: 'E_INVALID_INPUT' }, OPTIONS, options)
  const { tools, agents, approvals, decidedBy, hosts, name, version } = settings
  if (tools === undefined) throw wrongInput('mcpServer', 'tools', 'must be a list of tools')
  requireServed(settings.runner)
  const policy = { approvals, decidedBy, running: new RunningCalls() }
  const own = Object.entries(agents).map(([agent, runner]) => agentTool(agent, runner, policy))
  const { store, remember } = settings.store
    ? { store: settings.store, remember: () => undefined }
    : shortMemory()
  const scope: ServedScope = {
    ...policy,
    runner: settings.runner,
    store,
    telemetry: settings.telemetry,
    spool: spoolOf(store),
    remember,
    tools: () => toolsIn(tools, own),
  }
  // Wrong tools are refused here, and not at the first request.
  requireServable(scope.tools())
  const calls = new ServedCalls(scope)
  const changes = new ToolChanges()
  const serve = (sdk: Sdk, listChanged = true) =>
    protocolServer(sdk, { name, version, listChanged }, scope, calls)
  const http = new HttpFace(settings, serve, changes)
  const stdio = new Connections(serve, changes)
  const unlisten = listen(tools, () => changes.tell())
  return {
    connect: (transport) => stdio.add(transport),
    handle: async (request) => refusedRequest(request, hosts) ?? http.handle(request),
    toolsChanged: () => changes.tell(),
    async close() {
      unlisten()
      await scope.running.close()
      await Promise.all([http.close(), stdio.close()])
    },
  }
}

/** Listens to changes, if the tools have `onChange`. */
function listen(tools: Iterable<Tool>, changed: () => void): () => void {
  if (!hasMethods('onChange')(tools)) return () => undefined
  return (tools as Iterable<Tool> & Pick<McpTools, 'onChange'>).onChange(changed)
}

function toolsIn(tools: Iterable<Tool>, agents: readonly Tool[]): readonly Tool[] {
  const all = [...tools, ...agents]
  if (all.every((tool) => Tool.isTool(tool))) return all
  throw wrongInput('mcpServer', 'tools', 'must hold tools and nothing else')
}

function requireServable(tools: readonly Tool[]): void {
  const names = new Set<string>()
  for (const { name, jsonSchema } of tools) {
    if (names.has(name)) {
      throw wrongInput(
        'mcpServer',
        'tools',
        `must have one tool or agent named \`${name}\`, not two`,
      )
    }
    names.add(name)
    try {
      refuseWrongHeaders(jsonSchema)
    } catch (error) {
      throw wrongInput('mcpServer', 'tools', `must not hold \`${name}\`: ${thrownText(error)}`)
    }
  }
}
