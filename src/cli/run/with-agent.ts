import type { SetupContext } from '../../turn/options/agent-options.ts'
import type { Io } from '../terminal/io.ts'
import type { Agent } from './agent.ts'
import { type LoadedAgent, loadAgent } from './agent-file.ts'
import { openServers } from './mcp-servers.ts'

/** Loads the agent, opens its MCP servers for as long as the work takes, and closes them. */
export async function withAgent<T>(
  values: { readonly agent?: string },
  io: Pick<Io, 'cwd'>,
  work: (loaded: LoadedAgent) => Promise<T>,
): Promise<T> {
  const loaded = await loadAgent(values, io)
  const { mcpServers, ...agent } = loaded.agent
  if (mcpServers === undefined) return work(loaded)
  const servers = await openServers(mcpServers)
  const tools = async (ctx: SetupContext) => [
    ...(await toolsOf(agent, ctx)),
    ...servers.flatMap((each) => [...each]),
  ]
  try {
    return await work({ ...loaded, agent: { ...agent, tools }, servers })
  } finally {
    await Promise.allSettled(servers.map((each) => each.close()))
  }
}

/** The tools of an agent, which may be a function. */
export const toolsOf = async ({ tools = [] }: Pick<Agent, 'tools'>, ctx: SetupContext) =>
  typeof tools === 'function' ? tools(ctx) : tools
