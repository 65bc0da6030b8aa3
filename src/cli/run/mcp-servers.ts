import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { McpServerConfig, McpTools, McpToolsOptions } from '../../mcp/index.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'

/** One entry of `mcpServers`: where the server is, and how its tools are offered. */
export type AgentMcpServer = McpServerConfig & McpToolsOptions

/** The servers of an agent by name. */
export type AgentMcpServers = Readonly<Record<string, AgentMcpServer>>

const CONFIG_NAMES = ['mcp.json', '.mcp.json']
const POLICY = [
  'prefix',
  'trusted',
  'trust',
  'effects',
  'approval',
  'only',
  'concurrency',
  'timeoutMs',
] as const satisfies readonly (keyof McpToolsOptions)[]

/** Opens every server; the tools of each have its name before their own, unless the entry says otherwise. */
export async function openServers(servers: AgentMcpServers): Promise<readonly McpTools[]> {
  const opened: McpTools[] = []
  try {
    for (const [name, server] of Object.entries(servers))
      opened.push(await openServer(name, server))
  } catch (error) {
    await Promise.allSettled(opened.map((tools) => tools.close()))
    throw error
  }
  return opened
}

async function openServer(name: string, server: AgentMcpServer): Promise<McpTools> {
  const { mcpClient, mcpTools } = await import('../../mcp/index.ts')
  const given = POLICY.filter((key) => server[key] !== undefined)
  const policy: McpToolsOptions = Object.fromEntries(given.map((key) => [key, server[key]]))
  const prefix = `${name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 30)}_`
  try {
    return await mcpTools(mcpClient(server), { prefix, ...policy })
  } catch (error) {
    throw usageError(`The MCP server \`${name}\` could not be opened: ${thrownText(error)}`)
  }
}

/** The server that a command names: a URL, a name in the file of servers, or a command line. */
export function namedServer(
  wanted: string,
  values: { readonly config?: string },
  { cwd }: Pick<Io, 'cwd'>,
): McpServerConfig {
  if (/^https?:\/\//.test(wanted)) return { url: wanted }
  const servers = serversIn(values, cwd)
  const known = Object.hasOwn(servers, wanted) ? servers[wanted] : undefined
  if (known !== undefined) return known
  const [command = '', ...args] = wanted.trim().split(/\s+/)
  if (args.length > 0 || command.includes('/')) return { command, args }
  const names = Object.keys(servers)
  const others = names.length === 0 ? 'no file of servers is here' : `known are ${names.join(', ')}`
  throw usageError(
    `\`${wanted}\` is not an MCP server: write a URL, a command line in quotes, or a name in \`mcp.json\` (${others}).`,
    'mcp',
  )
}

function serversIn({ config }: { readonly config?: string }, cwd: string): AgentMcpServers {
  const file = config ?? CONFIG_NAMES.find((name) => existsSync(join(cwd, name)))
  if (file === undefined) return {}
  try {
    const read = JSON.parse(readFileSync(resolve(cwd, file), 'utf8')) as {
      readonly mcpServers?: AgentMcpServers
    } | null
    return read?.mcpServers ?? {}
  } catch (error) {
    throw usageError(`\`${file}\` could not be read: ${thrownText(error)}`, 'mcp')
  }
}
