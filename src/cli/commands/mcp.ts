import { command } from '../command/command.ts'
import { usageError } from '../command/usage-error.ts'
import { callTool } from '../mcp/call-tool.ts'
import { listTools } from '../mcp/list-tools.ts'
import { MCP_OPTIONS, type McpValues } from '../mcp/mcp-options.ts'
import { serveAgent } from '../mcp/serve-agent.ts'
import type { Io } from '../terminal/io.ts'

const FORMS: Readonly<
  Record<string, (values: McpValues, rest: readonly string[], io: Io) => Promise<number>>
> = { list: listTools, call: callTool, serve: serveAgent }

export const mcp = command({
  name: 'mcp',
  usage: ['mcp list SERVER [TOOL]', 'mcp call SERVER TOOL [JSON]', 'mcp serve [AGENT-FILE]'],
  about:
    'Lists the tools of an MCP server or shows one whole, calls one (`-` reads its JSON from standard input), or serves the tools of an agent file, and the agent itself as `ask`. SERVER is a URL, a command line in quotes, or a name in mcp.json.',
  options: MCP_OPTIONS,
  run({ values, positionals: [form, ...rest] }, io) {
    const work = form !== undefined && Object.hasOwn(FORMS, form) ? FORMS[form] : undefined
    if (work !== undefined) return work(values, rest, io)
    throw usageError(
      form === undefined
        ? '`bobbin mcp` needs one of list, call and serve: `bobbin help mcp` says more.'
        : `\`bobbin mcp ${form}\` is not known: use list, call or serve.`,
      'mcp',
    )
  },
})
