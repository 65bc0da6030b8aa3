import { usageError } from '../command/usage-error.ts'
import { nameText } from '../terminal/call-text.ts'
import { columnsOf, padTo } from '../terminal/columns.ts'
import { cutToWidth } from '../terminal/cut-to-width.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { widthOf } from '../terminal/text-width.ts'
import { writeJson } from '../terminal/write-json.ts'
import type { McpValues } from './mcp-options.ts'
import { type OneServer, toolNamed, withServer } from './one-server.ts'
import { onOneLine, toolFacts, toolLines } from './tool-text.ts'

/** A longer name moves only its own line. */
const WIDEST_NAME = 40
/** A line in a pipe is not cut; a stranger's line has an end all the same. */
const LONGEST_LINE = 500

/** Lists the tools of a server, or shows one whole. */
export async function listTools(
  values: McpValues,
  [wanted, name, extra]: readonly string[],
  io: Io,
): Promise<number> {
  if (wanted === undefined) throw usageError('`bobbin mcp list` needs a server.', 'mcp')
  if (extra !== undefined) {
    throw usageError(
      '`bobbin mcp list` takes a server and a tool: write a command line in quotes.',
      'mcp',
    )
  }
  return withServer(wanted, values, io, async (server) => {
    const shown = name === undefined ? [...server.tools] : [toolNamed(name, server)]
    if (values.json === true) for (const tool of shown) writeJson(io, toolFacts(tool, server))
    else if (name === undefined) writeTable(server, io)
    else for (const tool of shown) io.stdout.write(`${toolLines(tool, server, io).join('\n')}\n`)
    return EXIT.ok
  })
}

function writeTable({ entry, tools }: OneServer, io: Io): void {
  const rows = [...tools].map(({ name, description }) => ({
    name,
    text: onOneLine(firstLine(description), LONGEST_LINE),
  }))
  if (rows.length === 0) {
    io.stderr.write(`The MCP server \`${nameText(entry.name)}\` has no tools.\n`)
    return
  }
  const paint = paintFor(io)
  const columns = columnsOf(io)
  const widest = Math.max(...rows.map(({ name }) => widthOf(name)))
  const width = Math.min(widest, WIDEST_NAME) + 2
  for (const { name, text } of rows) {
    const line = `${padTo(paint.bold(name), width)}${widthOf(name) > width - 2 ? '  ' : ''}${text}`
    io.stdout.write(`${cutToWidth(line.trimEnd(), columns)}\n`)
  }
}

const firstLine = (text: string) => text.trim().split('\n')[0] ?? ''
