import type {
  AuthProvider,
  Client,
  OAuthClientProvider,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client'
import { delay } from '../../core/delay.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { wrongInput } from '../../core/error/wrong-input.ts'
import { hasMethods, nearest, type OptionTable, option, readOptions } from '../../core/options.ts'
import { loadClient } from '../access/load-client.ts'
import { serverOf } from '../access/mcp-oauth.ts'
import { hasUser, oauthFetch } from '../access/oauth-fetch.ts'
import { isJsonObject } from './safe-schema.ts'
import { shownBriefly } from './stranger-text.ts'

/** A server that is started as a process, in the form that most programs use. */
export interface McpCommand {
  readonly type?: 'stdio'
  readonly command: string
  readonly args?: readonly string[]
  /** Beside a few harmless variables such as `PATH`, the server gets only these. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** A server that is reached over HTTP. */
export interface McpAddress {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly type?: 'http' | 'streamable-http'
}

/** One entry of `mcpServers`. */
export type McpServerConfig = McpCommand | McpAddress

/** What a client has beside the description of its server. */
export interface McpClientOptions {
  /** Gives tokens for a server over HTTP: what `mcpOAuth` makes, or a provider of the SDK. */
  readonly authProvider?: AuthProvider | OAuthClientProvider
}

const isTokens = hasMethods('token')
const isProvider = hasMethods('tokens', 'clientInformation')

const OPTIONS = {
  authProvider: option<AuthProvider | OAuthClientProvider>(
    (value) => isTokens(value) || isProvider(value),
    'must be what `mcpOAuth` makes, or a provider of `@modelcontextprotocol/client`',
  ),
} satisfies OptionTable<McpClientOptions>

const isTexts = (value: unknown): boolean =>
  isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string')

const isList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

/** How much of a server's error output is kept for the message of a failure. */
const MAX_STDERR = 2_000

/**
 * A function that opens a client for a server, for `mcpTools`. It speaks protocol 2026-07-28 where the server does,
 * offers forms and links to a person, and limits the size of each message. A signal ends the opening, and the process.
 */
export function mcpClient(
  server: McpServerConfig,
  options: McpClientOptions = {},
): (signal?: AbortSignal) => Promise<Client> {
  checkConfig(server)
  const { authProvider } = readOptions(READER, OPTIONS, options)
  if (authProvider !== undefined) requireFor(server, authProvider)
  return async (signal) => {
    signal?.throwIfAborted()
    const { Client: ClientClass, StreamableHTTPClientTransport: HttpTransport } = await loadClient()
    const client = new ClientClass(CLIENT_INFO, {
      versionNegotiation: { mode: 'auto' },
      inputRequired: { autoFulfill: false },
      capabilities: { elicitation: { form: {}, url: {} } },
    })
    if ('url' in server) {
      const { url, headers = {} } = server
      const requestInit = { headers: { ...headers } }
      const address = new URL(url)
      const fetch = oauthFetch(address, headers, globalThis.fetch, authProvider)
      const settings = { requestInit, fetch, ...(authProvider && { authProvider }) }
      const transport = new HttpTransport(address, settings)
      endSessionOnClose(transport)
      await opened(client, transport, signal)
      return client
    }
    return startProcess(client, server, signal)
  }
}

const READER = { of: 'mcpClient', code: 'E_INVALID_INPUT' } as const

/** Refuses a provider whose tokens would go where they do not belong. */
function requireFor(server: McpServerConfig, authProvider: object): void {
  const refuse = (rule: string) => wrongInput('mcpClient', 'authProvider', rule)
  if (!('url' in server)) throw refuse('is for servers over HTTP: give a process its keys in `env`')
  const made = serverOf(authProvider)
  if (made === undefined || made === new URL(server.url).href) return
  throw refuse('was made for another server: give `mcpOAuth` and `mcpClient` the same `url`')
}

const CLIENT_INFO = { name: 'bobbin-adk', version: '0.1.0' }

/** Connects until the signal aborts. */
async function opened(client: Client, transport: Transport, signal?: AbortSignal): Promise<void> {
  const stop = () => void transport.close().catch(() => undefined)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    await client.connect(transport)
    signal?.throwIfAborted()
  } catch (error) {
    await transport.close().catch(() => undefined)
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** How long the end of a session may take. */
const END_MS = 2_000

/** Ends the session at the server when the transport closes: the server would keep it. */
function endSessionOnClose(transport: StreamableHTTPClientTransport): void {
  const close = transport.close.bind(transport)
  let closing: Promise<void> | undefined
  const ended = async () => {
    const limit = new AbortController()
    const ending = transport.terminateSession().catch(() => undefined)
    await Promise.race([ending, delay(END_MS, limit.signal)])
    limit.abort()
    await close()
  }
  transport.close = () => {
    closing ??= ended()
    return closing
  }
}

async function startProcess(
  client: Client,
  server: McpCommand,
  signal: AbortSignal | undefined,
): Promise<Client> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const { command, args = [], env, cwd } = server
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    // A server must not write to our terminal.
    stderr: 'pipe',
    ...(env && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  })
  // Every `close` waits until the process has ended, even if the client has begun to close it. A subclass would do,
  // but the client asks servers for their protocol in a process of its own only for this very class.
  const close = transport.close.bind(transport)
  let closing: Promise<void> | undefined
  transport.close = () => {
    closing ??= close()
    return closing
  }
  let said = ''
  transport.stderr?.on('data', (chunk: Uint8Array) => {
    said = (said + new TextDecoder().decode(chunk)).slice(-MAX_STDERR)
  })
  try {
    await opened(client, transport, signal)
    return client
  } catch (error) {
    signal?.throwIfAborted()
    const words = said === '' ? '' : ` It wrote: ${shownBriefly(said, MAX_STDERR)}`
    throw new Error(`\`${command}\` could not be started: ${thrownText(error)}.${words}`, {
      cause: error,
    })
  }
}

/** Refuses what is not the description of a server. */
function checkConfig(server: unknown, of = 'mcpClient'): asserts server is McpServerConfig {
  const given = isJsonObject(server) ? server : {}
  const { command, args = [], env = {}, cwd = '', url, headers = {}, type } = given
  const refuse = (path: string, rule: string) => {
    throw wrongInput(of, path, rule)
  }
  if (command !== undefined && url === undefined) refuseUnknown(given, PROCESS, refuse)
  if (command === undefined && url !== undefined) refuseUnknown(given, ADDRESS, refuse)
  if (typeof command === 'string' && command !== '' && url === undefined) {
    if (type !== undefined && type !== 'stdio') refuse('type', 'must be `stdio` beside `command`')
    if (!isList(args)) refuse('args', 'must be a list of texts')
    if (!isTexts(env)) refuse('env', 'must be an object of texts')
    if (typeof cwd !== 'string') refuse('cwd', 'must be the path of a folder')
    return
  }
  if (typeof url !== 'string' || !/^https?:$/.test(protocolOf(url)) || command !== undefined) {
    refuse('server', 'must be `{ command, args, env }` or `{ url, headers }`')
  }
  if (typeof url === 'string' && hasUser(new URL(url))) {
    refuse('url', 'must have no user and password: write them into `headers`')
  }
  if (!isTexts(headers)) refuse('headers', 'must be an object of texts')
  if (type !== undefined && type !== 'http' && type !== 'streamable-http') {
    refuse('type', 'must be `http`: servers of other kinds cannot be reached')
  }
}

function refuseUnknown(
  given: object,
  names: readonly string[],
  refuse: (path: string, rule: string) => void,
): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const near = nearest(unknown, names)
  refuse(unknown, near ? `is not known: use \`${near}\`` : `is not one of ${names.join(', ')}`)
}

const PROCESS = ['command', 'args', 'env', 'cwd', 'type']
const ADDRESS = ['url', 'headers', 'type']

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '')
