import { thrownText } from '../../core/error/thrown-text.ts'
import { isObject } from '../../core/error/wrong-input.ts'
import type { McpTools } from '../../mcp/index.ts'
import type { Tool } from '../../tools/tool.ts'
import type { SetupContext } from '../../turn/options/agent-options.ts'
import { usageError } from '../command/usage-error.ts'
import {
  closeServers,
  type OpenedServer,
  openServers,
  refuseSameNames,
} from '../servers/open-servers.ts'
import type { Io } from '../terminal/io.ts'
import type { Agent } from './agent.ts'
import { type LoadedAgent, loadAgent } from './agent-file.ts'
import { withTelemetry } from './with-telemetry.ts'

/** An agent whose MCP servers are open. */
export interface OpenAgent extends LoadedAgent {
  /** The agent's own tools, which a function gives once, and those of its servers, as they are at each iteration. */
  toolsNow(): Promise<Iterable<Tool> & Pick<McpTools, 'onChange'>>
}

/** Loads the agent, and opens its MCP servers and its telemetry for as long as the work takes. */
export function withAgent<T>(
  values: { readonly agent?: string; readonly otel?: boolean },
  io: Pick<Io, 'cwd' | 'env' | 'stderr' | 'signal'>,
  work: (loaded: OpenAgent) => Promise<T>,
): Promise<T> {
  return withTelemetry(values, io, async (telemetry) => {
    const loaded = await loadAgent(values, io)
    const agent = telemetry ? { telemetry, ...loaded.agent } : loaded.agent
    return withServers({ ...loaded, agent }, io, work)
  })
}

/** Opens the MCP servers of an agent for as long as the work takes, and closes them. */
async function withServers<T>(
  { file, agent: loaded }: LoadedAgent,
  io: Pick<Io, 'cwd' | 'env' | 'stderr' | 'signal'>,
  work: (loaded: OpenAgent) => Promise<T>,
): Promise<T> {
  const { mcpServers = {}, ...agent } = loaded
  if (!isObject(mcpServers) || Array.isArray(mcpServers)) {
    throw usageError(`\`mcpServers\` of \`${file}\` must be an object: \`{ NAME: { command } }\`.`)
  }
  const servers = await openServers(mcpServers, file, io)
  try {
    if (typeof agent.tools !== 'function') refuseSameNames([...(agent.tools ?? [])], servers, file)
    return await work({ file, agent: withTools(agent, servers, file), toolsNow })
  } finally {
    await closeServers(servers)
  }

  async function toolsNow() {
    const own = await toolsWithoutTurn(agent, file)
    return {
      *[Symbol.iterator]() {
        yield* own
        for (const { tools } of servers) yield* tools
      },
      onChange(listener: () => void) {
        const ends = servers.map(({ tools }) => tools.onChange(listener))
        return () => {
          for (const end of ends) end()
        }
      },
    }
  }
}

/** The tools of an agent where no turn asks for them. */
async function toolsWithoutTurn(agent: Agent, file: string): Promise<readonly Tool[]> {
  try {
    return [...(await toolsOf(agent, { context: undefined, conversation: '', turnId: '' }))]
  } catch (error) {
    throw usageError(
      `\`tools\` of \`${file}\` failed: ${thrownText(error)}. An MCP server calls it once, without a \`context\`: let it give the tools that need none, or export a list.`,
      'mcp',
    )
  }
}

/** The agent with the tools of its servers. Each turn has the newest ones. */
function withTools(agent: Agent, servers: readonly OpenedServer[], file: string): Agent {
  if (servers.length === 0) return agent
  const tools = async (ctx: SetupContext) => {
    const own = [...(await toolsOf(agent, ctx))]
    refuseSameNames(own, servers, file)
    return [...own, ...servers.flatMap((each) => [...each.tools])]
  }
  return { ...agent, tools }
}

/** The tools of an agent, which may be a function. */
const toolsOf = async ({ tools = [] }: Pick<Agent, 'tools'>, ctx: SetupContext) =>
  typeof tools === 'function' ? tools(ctx) : tools
