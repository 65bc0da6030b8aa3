import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { thrownText } from '../../core/error/thrown-text.ts'
import { isObject } from '../../core/error/wrong-input.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'
import { commandWords } from './command-words.ts'
import { readEntry, type ServerEntry } from './server-entry.ts'

const CONFIG_NAMES = ['mcp.json', '.mcp.json']

/** The server that a command names: a URL, a name in the file of servers, or a command line. */
export function namedServer(
  wanted: string,
  values: { readonly config?: string },
  { cwd, env }: Pick<Io, 'cwd' | 'env'>,
): ServerEntry {
  if (/^https?:\/\//i.test(wanted)) {
    if (!URL.canParse(wanted)) throw usageError('This URL cannot be read.', 'mcp')
    const { username, password } = new URL(wanted)
    if (username === '' && password === '') {
      return { name: wanted, server: { url: wanted }, policy: {} }
    }
    const wayOut = 'write it as `headers` of a server in `mcp.json`'
    throw usageError(`A URL must not have a user or a password: ${wayOut}.`, 'mcp')
  }
  const { file = '', servers } = serversIn(values, cwd)
  if (Object.hasOwn(servers, wanted)) {
    return readEntry(servers[wanted], { name: wanted, file }, env)
  }
  const [command = '', ...args] = commandWords(wanted)
  if (args.length > 0 || /[/\\]/.test(command)) {
    return { name: command, server: { command, args }, policy: {} }
  }
  throw usageError(
    `\`${wanted}\` is not an MCP server: write a URL, a command line in quotes, or a name in \`mcp.json\` (${knownText(file, Object.keys(servers))}).`,
    'mcp',
  )
}

function knownText(file: string, names: readonly string[]): string {
  if (file === '') return 'this folder has no such file'
  return names.length === 0 ? `\`${file}\` has none` : `known are ${names.join(', ')}`
}

interface ServerFile {
  readonly file?: string
  readonly servers: Readonly<Record<string, unknown>>
}

function serversIn({ config }: { readonly config?: string }, cwd: string): ServerFile {
  const file = config ?? CONFIG_NAMES.find((name) => existsSync(join(cwd, name)))
  if (file === undefined) return { servers: {} }
  // VS Code calls them `servers`.
  const { mcpServers, servers = mcpServers } = contentOf(resolve(cwd, file), file)
  const given = mcpServers ?? servers
  if (isObject(given) && !Array.isArray(given)) {
    return { file, servers: given as Readonly<Record<string, unknown>> }
  }
  throw usageError(
    `\`${file}\` has no servers: write \`{ "mcpServers": { "NAME": { … } } }\`.`,
    'mcp',
  )
}

function contentOf(path: string, file: string): Readonly<Record<string, unknown>> {
  if (!existsSync(path)) throw usageError(`The file \`${file}\` does not exist: check the path.`)
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
    return isObject(read) ? (read as Readonly<Record<string, unknown>>) : {}
  } catch (error) {
    throw usageError(`\`${file}\` could not be read: ${thrownText(error)}`, 'mcp')
  }
}
