import { statSync } from 'node:fs'
import { isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { shownBriefly } from '../../mcp/client/stranger-text.ts'
import type { McpTools, McpToolsOptions } from '../../mcp/index.ts'
import { usageError } from '../command/usage-error.ts'
import { refuserOf, type ServerEntry } from './server-entry.ts'
import { ServerProcesses } from './server-processes.ts'

/** The tools of a server, and the end of its connection. */
export interface OpenTools {
  readonly tools: McpTools
  close(): Promise<void>
}

/** Opens one server. The signal ends the opening, and with it a process that was started. */
export async function openServer(
  entry: ServerEntry,
  options: McpToolsOptions,
  signal: AbortSignal,
): Promise<OpenTools> {
  const { mcpClient, mcpTools } = await import('../../mcp/index.ts')
  // Once it is open, the signal ends calls and not the connection: they may need it to settle.
  const leaving = new AbortController()
  const processes = new ServerProcesses()
  const leave = () => leaving.abort()
  signal.addEventListener('abort', leave)
  try {
    signal.throwIfAborted()
    const open = mcpClient(entry.server)
    const tools = await mcpTools(async (givenUp: AbortSignal) => {
      const ended = AbortSignal.any([givenUp, leaving.signal])
      const client = await processes.run(() => open(ended))
      leaving.signal.addEventListener('abort', () => void client.close().catch(() => undefined))
      return client
    }, options)
    const close = () => {
      leave()
      return tools.close()
    }
    return { tools, close }
  } catch (error) {
    signal.throwIfAborted()
    throw openFailure(entry, error, processes.strayLine())
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Says which server could not be opened and what it said. */
function openFailure(entry: ServerEntry, error: unknown, stray: string | undefined): Error {
  if (isBobbinError(error, 'E_INVALID_INPUT')) {
    const { of, path } = error.data
    const rule = error.message.replace(`\`${path}\` of \`${of}\` `, '').replace(/\.$/, '')
    return refuserOf(entry)(path, rule)
  }
  const inner = isBobbinError(error, 'E_MCP_UNAVAILABLE') ? (error.cause ?? error) : error
  const why = reasonOf(inner).trim()
  const end = /[.!?]$/.test(why) ? '' : '.'
  const wayOut = stray === undefined ? wayOutOf(entry, why) : strayText(stray)
  return usageError(
    `The MCP server \`${entry.name}\` could not be opened: ${why}${end}${wayOut}`,
    'mcp',
  )
}

const strayText = (line: string) =>
  ` It wrote text to standard output that is not a message of the protocol: \`${shownBriefly(line.trim(), MAX_LINE)}\`. A server keeps standard output for the protocol.`

const MAX_LINE = 120

/** How deep the reason of an error may lie. */
const MAX_CAUSES = 5

/** The words of an error; `fetch` keeps the telling ones in the innermost cause. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not answer in time'
  const said = thrownText(error)
  if (!/fetch failed/i.test(said)) return said
  let inner: unknown = error
  for (let depth = 0; depth < MAX_CAUSES && inner instanceof Error && inner.cause; depth += 1) {
    inner = inner.cause
  }
  const { code } = Object(inner) as { readonly code?: unknown }
  const why = thrownText(inner) || (typeof code === 'string' ? code : '')
  return why === '' || said.includes(why) ? said : why
}

function wayOutOf({ server }: ServerEntry, why: string): string {
  if ('command' in server && /ENOENT/.test(why)) {
    const { cwd } = server
    if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
      return ` Its \`cwd\` is \`${cwd}\`, which is not a folder: check the path.`
    }
    return ` Check that \`${server.command}\` is installed and in the PATH.`
  }
  if (/\b40[13]\b|unauthorized|forbidden/i.test(why)) {
    return ' It may need a key: put it into `headers` of an entry in `mcp.json`.'
  }
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/.test(why)) {
    return ' Check the address, and whether the server runs.'
  }
  return ''
}
