import { distance } from '../../core/word-distance.ts'
import { needsApproval } from '../../mcp/client/policy.ts'
import type { McpToolInfo, McpTools } from '../../mcp/index.ts'
import type { Tool } from '../../tools/tool.ts'
import { interrupted } from '../command/failure.ts'
import { usageError } from '../command/usage-error.ts'
import { namedServer } from '../servers/named-server.ts'
import { openServer } from '../servers/open-server.ts'
import { whileOpening } from '../servers/opening-line.ts'
import type { ServerEntry } from '../servers/server-entry.ts'
import type { Io } from '../terminal/io.ts'
import { tell } from '../terminal/tell.ts'
import { writeJson } from '../terminal/write-json.ts'
import type { McpValues } from './mcp-options.ts'

/** A tool as its server describes it, and whether its calls ask for approval. */
interface KnownTool extends McpToolInfo {
  readonly asks: boolean
}

/** A server that a command asks, with its tools. */
export interface OneServer {
  readonly entry: ServerEntry
  readonly tools: McpTools
  /** What the server says about a tool of its own, and whether calls of it ask. */
  infoOf(tool: Tool): KnownTool | undefined
}

/** Opens the server that the command line names for as long as the work takes. */
export async function withServer(
  wanted: string,
  values: McpValues,
  io: Io,
  work: (server: OneServer) => Promise<number>,
): Promise<number> {
  const entry = namedServer(wanted, values, io)
  for (const note of entry.notes ?? []) tell(io, note)
  const infos = new Map<string, KnownTool>()
  const approval = (info: McpToolInfo) => {
    const asks = needsApproval(info, entry.policy)
    infos.set(info.name, { ...info, asks })
    return asks
  }
  const options = { ...entry.policy, ...(isChecked(entry) && { approval }) }
  const opened = await whileOpening([entry.name], io, () =>
    openServer(entry, options, io.signal).catch((error: unknown) => {
      throw io.signal.aborted ? interrupted() : error
    }),
  )
  try {
    const { tools } = opened
    tellProblems(tools, values, io)
    return await work({ entry, tools, infoOf: (tool) => infos.get(ownName(tool)) })
  } finally {
    await opened.close()
  }
}

/** A wrong `approval` is refused where options are checked. */
const isChecked = ({ policy: { approval } }: ServerEntry) =>
  approval === undefined || typeof approval === 'boolean'

function tellProblems({ problems }: McpTools, values: McpValues, io: Io): void {
  for (const { tool, problem } of problems) {
    if (values.json === true) writeJson({ stdout: io.stderr }, { problem: { tool, problem } })
    else tell(io, `\`${tool}\` cannot be used: ${problem}`)
  }
}

/** The name of a tool on its server. */
function ownName({ name, meta }: Tool): string {
  const { mcp } = Object(meta) as { readonly mcp?: { readonly tool?: string } }
  return mcp?.tool ?? name
}

/** The tool under a name: as it is offered, or as the server calls it. */
export function toolNamed(name: string, { tools, entry }: OneServer): Tool {
  const all = [...tools]
  const found = all.find((tool) => tool.name === name) ?? all.find((tool) => ownName(tool) === name)
  if (found !== undefined) return found
  const near = all.find((tool) => distance(tool.name, name) <= 2)
  const hint =
    near === undefined ? '`bobbin mcp list` shows them.' : `Did you mean \`${near.name}\`?`
  throw usageError(`The MCP server \`${entry.name}\` has no tool \`${name}\`. ${hint}`, 'mcp')
}
