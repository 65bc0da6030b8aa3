import type { Tool } from '../../tools/tool.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'
import { tell } from '../terminal/tell.ts'
import { type OpenTools, openServer } from './open-server.ts'
import { whileOpening } from './opening-line.ts'
import { type AgentMcpServers, isDisabled, readEntry, type ServerEntry } from './server-entry.ts'

/** A server of an agent with its tools. */
export interface OpenedServer extends OpenTools {
  readonly name: string
}

/**
 * Opens all servers of an agent at once; the tools of each have its name before their own, unless the entry says
 * otherwise. If one cannot be opened, none stays open.
 */
export async function openServers(
  servers: AgentMcpServers,
  file: string,
  io: Pick<Io, 'env' | 'stderr' | 'signal'>,
): Promise<readonly OpenedServer[]> {
  const entries: ServerEntry[] = []
  for (const [name, given] of Object.entries(servers)) {
    if (isDisabled(given)) {
      tell(io, `The MCP server \`${name}\` is left out: \`disabled\` is true.`)
      continue
    }
    const entry = readEntry(given, { name, file }, io.env)
    for (const note of entry.notes ?? []) tell(io, note)
    entries.push(entry)
  }
  const names = entries.map(({ name }) => name)
  const opened = await whileOpening(names, io, () => openAll(entries, io.signal))
  for (const { name, tools } of opened) {
    for (const { tool, problem } of tools.problems) {
      tell(io, `\`${tool}\` of the MCP server \`${name}\` is left out: ${problem}`)
    }
  }
  return opened
}

async function openAll(
  entries: readonly ServerEntry[],
  signal: AbortSignal,
): Promise<readonly OpenedServer[]> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const failures: unknown[] = []
  const results = await Promise.all(
    entries.map(async (entry): Promise<OpenedServer | undefined> => {
      const { name, policy } = entry
      try {
        return { name, ...(await openServer(entry, { prefix: prefixOf(name), ...policy }, either)) }
      } catch (error) {
        failures.push(error)
        failed.abort()
        return undefined
      }
    }),
  )
  const opened = results.filter((each) => each !== undefined)
  // Those after the first were ended because of it.
  if (failures.length === 0) return opened
  await closeServers(opened)
  throw failures[0]
}

/** Closes servers; none keeps another one open. */
export async function closeServers(servers: readonly OpenedServer[]): Promise<void> {
  await Promise.allSettled(servers.map((each) => each.close()))
}

const prefixOf = (name: string) => `${name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 30)}_`

/** Refuses two tools of one name, and says how to tell them apart. */
export function refuseSameNames(
  own: readonly Pick<Tool, 'name'>[],
  servers: readonly OpenedServer[],
  file: string,
): void {
  const owners = new Map(own.map(({ name }) => [name, 'the agent itself']))
  for (const { name: server, tools } of servers) {
    for (const { name } of tools) {
      const other = owners.get(name)
      if (other !== undefined) {
        const who = `${other} and the MCP server \`${server}\``
        const message = `\`${file}\`: ${who} both have a tool \`${name}\`: give the server another \`prefix\`, or choose its tools with \`only\`.`
        throw usageError(message)
      }
      owners.set(name, `the MCP server \`${server}\``)
    }
  }
}
