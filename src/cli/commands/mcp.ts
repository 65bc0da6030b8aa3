import type { AddressInfo } from 'node:net'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { McpServer, McpTools } from '../../mcp/index.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { Store } from '../../store/store.ts'
import { visibleText } from '../../text/visible-text.ts'
import type { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { command, type Values } from '../command/command.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import type { LoadedAgent } from '../run/agent-file.ts'
import { namedServer } from '../run/mcp-servers.ts'
import { MODEL_OPTIONS } from '../run/model-choice.ts'
import { httpServer } from '../run/node-http.ts'
import { mindOf } from '../run/turn-session.ts'
import { toolsOf, withAgent } from '../run/with-agent.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { writeJson } from '../terminal/write-json.ts'

const OPTIONS = {
  config: {
    type: 'string',
    value: 'FILE',
    help: 'The file with `mcpServers`; mcp.json or .mcp.json of this folder unless given',
  },
  port: { type: 'string', value: 'PORT', help: 'Serve over HTTP on this port of this machine' },
  approvals: { type: 'boolean', help: 'Let clients decide on calls that need approval' },
  ...MODEL_OPTIONS,
  ...STORE_OPTIONS,
} as const

type McpValues = Values<typeof OPTIONS>

const FORMS: Readonly<
  Record<string, (values: McpValues, rest: readonly string[], io: Io) => Promise<number>>
> = { list: listTools, call: callTool, serve }

export const mcp = command({
  name: 'mcp',
  usage: ['mcp list SERVER', 'mcp call SERVER TOOL [JSON]', 'mcp serve [AGENT-FILE]'],
  about:
    'Lists the tools of an MCP server, calls one, or serves the tools of an agent file, and the agent itself as `ask`. SERVER is a URL, a command line in quotes, or a name in mcp.json.',
  options: OPTIONS,
  run({ values, positionals: [form = '', ...rest] }, io) {
    const work = Object.hasOwn(FORMS, form) ? FORMS[form] : undefined
    if (work !== undefined) return work(values, rest, io)
    throw usageError(`\`bobbin mcp ${form}\` is not known: use list, call or serve.`, 'mcp')
  },
})

async function listTools(values: McpValues, [wanted]: readonly string[], io: Io): Promise<number> {
  const tools = await openTools(values, wanted, io)
  try {
    for (const { name, description, jsonSchema, meta } of tools) {
      if (values.json === true) writeJson(io, { name, description, inputSchema: jsonSchema, meta })
      else io.stdout.write(`${name}  ${firstLine(description)}\n`)
    }
    for (const { tool, problem } of tools.problems) {
      io.stderr.write(`bobbin: \`${tool}\` cannot be used: ${problem}\n`)
    }
    return EXIT.ok
  } finally {
    await tools.close()
  }
}

async function callTool(
  values: McpValues,
  [wanted, name, json = '{}']: readonly string[],
  io: Io,
): Promise<number> {
  if (name === undefined) throw usageError('`bobbin mcp call` needs the name of a tool.', 'mcp')
  const tools = await openTools(values, wanted, io)
  try {
    const tool = [...tools].find((each) => each.name === name)
    if (tool === undefined) {
      throw usageError(`The server has no tool \`${name}\`: \`bobbin mcp list\` shows them.`, 'mcp')
    }
    const runner = new TurnRunner({
      tools: [tool],
      policy: 'open',
      spool: memorySpool(),
      executor: async ({ turnToolCalls }) =>
        turnToolCalls.length > 0 ? { answer: '' } : { calls: [{ tool: name, args: json }] },
    })
    const { toolCalls, status } = await runner.run({ message: name, signal: io.signal })
    if (status === 'suspended') {
      io.stderr.write('bobbin: the server asks a question, which this command cannot pass on\n')
      return EXIT.waiting
    }
    const [record] = toolCalls
    for (const text of await textsOf(record?.results)) io.stdout.write(`${text}\n`)
    for (const { media } of record?.media ?? []) {
      io.stdout.write(`[${media.mimeType}, ${media.byteLength ?? 0} bytes]\n`)
    }
    return record?.settlement === 'ok' ? EXIT.ok : EXIT.failed
  } finally {
    await tools.close()
  }
}

async function textsOf(results: unknown): Promise<readonly string[]> {
  const list: readonly unknown[] = Array.isArray(results) ? results : [results]
  return Promise.all(
    list.map(async (each) => {
      const { text, asString, mimeType } = Object(each) as {
        readonly text?: string
        readonly mimeType?: string
        asString?: (limit: number) => Promise<string>
      }
      if (mimeType !== undefined) return `[${mimeType}]`
      return text ?? (await asString?.call(each, Number.POSITIVE_INFINITY)) ?? ''
    }),
  )
}

async function openTools(values: McpValues, wanted: string | undefined, io: Io) {
  if (wanted === undefined) throw usageError('`bobbin mcp` needs a server.', 'mcp')
  const server = namedServer(wanted, values, io)
  const { mcpClient, mcpTools } = await import('../../mcp/index.ts')
  try {
    return await mcpTools(mcpClient(server))
  } catch (error) {
    throw usageError(visibleText(thrownText(error)), 'mcp')
  }
}

const firstLine = (text: string) => text.split('\n')[0] ?? ''

function serve(values: McpValues, [file]: readonly string[], io: Io): Promise<number> {
  return withAgent(file === undefined ? {} : { agent: file }, io, (loaded) =>
    withStore(values, io, { create: true }, async (store) => {
      const server = await agentServer(loaded, values, io, store)
      try {
        await (values.port === undefined
          ? overStdio(server, io)
          : overHttp(server, values.port, io))
        return EXIT.ok
      } finally {
        await server.close()
      }
    }),
  )
}

async function agentServer(
  loaded: LoadedAgent,
  values: McpValues,
  io: Io,
  store: Store,
): Promise<McpServer> {
  const { mcpServer } = await import('../../mcp/index.ts')
  const { agent } = loaded
  const place = { context: undefined, conversation: '', turnId: '' }
  const tools = changing(await toolsOf(agent, place), loaded.servers)
  const mind = await mindOf(agent, values, io, loaded.file).catch(() => undefined)
  const { question: _, model: _model, executor: _executor, offline: _offline, ...options } = agent
  const agents = mind && { ask: new TurnRunner({ ...options, ...mind, store }) }
  return mcpServer({
    tools,
    store,
    ...(agents && { agents }),
    ...(values.approvals === true && { approvals: 'client' as const }),
  })
}

/** The tools of an agent, with those that its servers have now in place of those that they had. */
function changing(tools: Iterable<Tool>, servers: readonly McpTools[] = []) {
  const before = new Set(servers.flatMap((each) => [...each]))
  const own = [...tools].filter((tool) => !before.has(tool))
  return {
    *[Symbol.iterator]() {
      yield* own
      for (const each of servers) yield* each
    },
    onChange(listener: () => void) {
      const ends = servers.map((each) => each.onChange(listener))
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

/** Serves until the client leaves. */
async function overStdio(server: McpServer, { stdin, signal }: Io): Promise<void> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
  const left = new Promise<void>((resolve) => {
    for (const event of ['end', 'close']) stdin.once(event, () => resolve())
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await server.connect(new StdioServerTransport())
  await left
}

/** Serves until the command is interrupted. */
async function overHttp(server: McpServer, port: string, { stderr, signal }: Io): Promise<void> {
  if (!/^\d{1,5}$/.test(port)) throw usageError(`\`--port ${port}\` is not a port.`, 'mcp')
  const http = httpServer((request) => server.handle(request))
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(Number(port), '127.0.0.1', resolve)
  })
  const { port: taken } = http.address() as AddressInfo
  stderr.write(`MCP server at http://127.0.0.1:${taken}/mcp\n`)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  http.closeAllConnections()
  http.close()
}
