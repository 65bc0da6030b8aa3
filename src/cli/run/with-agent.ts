import type { SetupContext } from '../../turn/options/agent-options.ts'
import type { Io } from '../terminal/io.ts'
import type { Agent } from './agent.ts'
import { type LoadedAgent, loadAgent } from './agent-file.ts'
import { openServers } from './mcp-servers.ts'
import { withTelemetry } from './with-telemetry.ts'

/** Loads the agent, opens its MCP servers for as long as the work takes, and closes them. */
export function withAgent<T>(
  values: { readonly agent?: string; readonly otel?: boolean },
  io: Pick<Io, 'cwd' | 'env' | 'stderr'>,
  work: (loaded: LoadedAgent) => Promise<T>,
): Promise<T> {
  return withTelemetry(values, io, async (telemetry) => {
    const loaded = await loadAgent(values, io)
    const agent = telemetry ? { telemetry, ...loaded.agent } : loaded.agent
    return withServers({ ...loaded, agent }, work)
  })
}

/** Opens the MCP servers of an agent for as long as the work takes. */
async function withServers<T>(
  loaded: LoadedAgent,
  work: (loaded: LoadedAgent) => Promise<T>,
): Promise<T> {
  const { mcpServers, ...agent } = loaded.agent
  if (mcpServers === undefined) return work(loaded)
  const servers = await openServers(mcpServers)
  const tools = async (ctx: SetupContext) => [
    ...(await toolsOf(agent, ctx)),
    ...servers.flatMap((each) => [...each]),
  ]
  try {
    return await work({ ...loaded, agent: { ...agent, tools } })
  } finally {
    await Promise.allSettled(servers.map((each) => each.close()))
  }
}

/** The tools of an agent, which may be a function. */
export const toolsOf = async ({ tools = [] }: Pick<Agent, 'tools'>, ctx: SetupContext) =>
  typeof tools === 'function' ? tools(ctx) : tools
