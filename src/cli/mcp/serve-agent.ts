import type { AddressInfo } from 'node:net'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { McpServer } from '../../mcp/index.ts'
import type { Store } from '../../store/store.ts'
import type { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { runnerOptions } from '../run/agent.ts'
import { httpServer } from '../run/node-http.ts'
import { mindOf } from '../run/turn-session.ts'
import { type OpenAgent, withAgent } from '../run/with-agent.ts'
import { showCount } from '../terminal/amounts.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { tell } from '../terminal/tell.ts'
import type { McpValues } from './mcp-options.ts'
import { protocolOutput } from './protocol-output.ts'

/** Serves an agent file until the client leaves or the command is interrupted; both are its usual end. */
export async function serveAgent(
  values: McpValues,
  [file, extra]: readonly string[],
  io: Io,
): Promise<number> {
  if (extra !== undefined) throw usageError('`bobbin mcp serve` takes one agent file.', 'mcp')
  const port = portOf(values.port)
  // The agent file may write to standard output as soon as it is loaded.
  const output = port === undefined ? protocolOutput(io) : undefined
  try {
    const sdk = await loadSdk()
    return await withAgent(
      { ...values, ...(file !== undefined && { agent: file }) },
      io,
      (loaded) =>
        withStore(values, io, { create: true }, async (store) => {
          const { server, what } = await agentServer(loaded, values, io, store)
          try {
            if (output === undefined) await overHttp(server, port ?? 0, what, io)
            else
              await overStdio(
                server,
                new sdk.StdioServerTransport(io.stdin as never, output.stream),
                what,
                io,
              )
            return EXIT.ok
          } finally {
            await server.close()
          }
        }),
    )
  } finally {
    output?.release()
  }
}

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  if (/^\d{1,5}$/.test(given) && Number(given) < 65_536) return Number(given)
  throw usageError(`\`--port ${given}\` is not a port: write a number up to 65535.`, 'mcp')
}

async function loadSdk() {
  try {
    await import('@modelcontextprotocol/server')
    return await import('@modelcontextprotocol/server/stdio')
  } catch (error) {
    const [said = ''] = thrownText(error).split('\n')
    throw usageError(
      `\`bobbin mcp serve\` needs \`npm install @modelcontextprotocol/server\`: ${said}`,
      'mcp',
    )
  }
}

interface Served {
  readonly server: McpServer
  /** What is served, in words. */
  readonly what: string
}

async function agentServer(
  loaded: OpenAgent,
  values: McpValues,
  io: Io,
  store: Store,
): Promise<Served> {
  const { mcpServer } = await import('../../mcp/index.ts')
  const { servedOptions } = await import('../../mcp/server/served-runner.ts')
  const { agent } = loaded
  const tools = await loaded.toolsNow()
  const mind = hasAsk(tools, io) ? undefined : await mindToServe(loaded, values, io)
  const options = runnerOptions(agent)
  const agents = mind && { ask: new TurnRunner({ ...options, ...mind, store }) }
  const server = mcpServer({
    tools,
    store,
    runner: servedOptions(options),
    ...(agents && { agents }),
    ...(agent.telemetry && { telemetry: agent.telemetry }),
    ...(values.approvals === true && { approvals: 'client' as const }),
  })
  const count = showCount([...tools].length, 'tool')
  return { server, what: mind === undefined ? count : `${count} and the agent as \`ask\`` }
}

/** Whether a tool has the name under which the agent would be served. */
function hasAsk(tools: Iterable<Tool>, io: Io): boolean {
  const isTaken = [...tools].some(({ name }) => name === 'ask')
  if (isTaken) tell(io, 'The agent is not served: one of its tools has the name `ask`.')
  return isTaken
}

/** Who decides for the agent; undefined if no model can be found. */
function mindToServe({ agent, file }: OpenAgent, values: McpValues, io: Io) {
  return mindOf(agent, values, io, file).catch((error: unknown) => {
    // Who names a model wants it.
    if (values.model !== undefined || values.offline === true) throw error
    tell(io, `\`ask\` is not served: ${thrownText(error)}`)
    return undefined
  })
}

/** Serves until the client leaves. */
async function overStdio(
  server: McpServer,
  transport: Parameters<McpServer['connect']>[0],
  what: string,
  { stdin, stderr, signal }: Io,
): Promise<void> {
  const left = new Promise<void>((resolve) => {
    for (const event of ['end', 'close']) stdin.once(event, () => resolve())
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await server.connect(transport)
  stderr.write(`Serving ${what} over stdio: an MCP client starts this command (Ctrl-C ends it)\n`)
  await left
}

/** Serves until the command is interrupted. */
async function overHttp(
  server: McpServer,
  port: number,
  what: string,
  { stderr, signal }: Io,
): Promise<void> {
  const http = httpServer((request) => server.handle(request))
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(port, error)))
    http.listen(port, '127.0.0.1', resolve)
  })
  const { port: taken } = http.address() as AddressInfo
  stderr.write(`Serving ${what} at http://127.0.0.1:${taken}/mcp (Ctrl-C ends it)\n`)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const closed = new Promise((resolve) => http.close(resolve))
  http.closeAllConnections()
  await closed
}

function listenFailure(port: number, error: NodeJS.ErrnoException): Error {
  const wayOut = 'choose another one, or `--port 0` for any that is free'
  if (error.code === 'EADDRINUSE') return usageError(`Port ${port} is in use: ${wayOut}.`, 'mcp')
  if (error.code === 'EACCES') return usageError(`Port ${port} is not allowed: ${wayOut}.`, 'mcp')
  return error
}
