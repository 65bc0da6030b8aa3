import { mcpClient, mcpOAuth, mcpServer, mcpTools } from '../../src/mcp/index.ts'
import { serverWith } from '../mcp/wire-server.ts'
import { type WayIn, way } from './values.ts'

const toolsWith = (options: object) => mcpTools(serverWith([]).open, options)

const serverOf = (options: object) => mcpServer({ tools: [], ...options })

const oauthOf = (options: object) =>
  mcpOAuth({
    url: 'https://x.example',
    redirectUrl: 'https://y.example',
    storage: new Map(),
    ...options,
  })

/** The public names of `bobbin-adk/mcp`. */
export const MCP: Readonly<Record<string, readonly WayIn[]>> = {
  mcpTools: [
    way('mcpTools', (client) => mcpTools(client)),
    way('mcpTools(client, options)', (options) => toolsWith(options), 'undefined', 'object'),
    way(
      'mcpTools({ prefix })',
      (prefix) => toolsWith({ prefix }),
      'undefined',
      'text',
      'empty text',
    ),
    way('mcpTools({ trusted })', (trusted) => toolsWith({ trusted }), 'undefined', 'true'),
    way('mcpTools({ trust })', (trust) => toolsWith({ trust }), 'undefined'),
    way(
      'mcpTools({ effects })',
      (effects) => toolsWith({ effects }),
      'undefined',
      'object',
      'date',
      'map',
    ),
    way(
      'mcpTools({ approval })',
      (approval) => toolsWith({ approval }),
      'undefined',
      'true',
      'function',
    ),
    way('mcpTools({ only })', (only) => toolsWith({ only }), 'undefined', 'list'),
    way(
      'mcpTools({ concurrency })',
      (concurrency) => toolsWith({ concurrency }),
      'undefined',
      'number',
    ),
    way('mcpTools({ timeoutMs })', (timeoutMs) => toolsWith({ timeoutMs }), 'undefined', 'number'),
  ],
  mcpServer: [
    way('mcpServer', mcpServer),
    way('mcpServer({ tools })', (tools) => mcpServer({ tools }), 'list', 'map'),
    way(
      'mcpServer({ agents })',
      (agents) => serverOf({ agents }),
      ...(['undefined', 'object', 'date', 'map'] as const),
    ),
    way(
      'mcpServer({ runner })',
      (runner) => serverOf({ runner }),
      ...(['undefined', 'object', 'date', 'map'] as const),
    ),
    way(
      'mcpServer({ runner: { middleware } })',
      (middleware) => serverOf({ runner: { middleware } }),
      'undefined',
      'list',
    ),
    way(
      'mcpServer({ runner: { policy } })',
      (policy) => serverOf({ runner: { policy } }),
      'undefined',
    ),
    way('mcpServer({ runner: { model } })', (model) => serverOf({ runner: { model } })),
    way('mcpServer({ store })', (store) => serverOf({ store }), 'undefined'),
    way('mcpServer({ approvals })', (approvals) => serverOf({ approvals }), 'undefined'),
    way('mcpServer({ decidedBy })', (decidedBy) => serverOf({ decidedBy }), 'undefined', 'text'),
    way('mcpServer({ hosts })', (hosts) => serverOf({ hosts }), 'undefined', 'list'),
    way('mcpServer({ sessions })', (sessions) => serverOf({ sessions }), 'undefined', 'number'),
    way('mcpServer({ name })', (name) => serverOf({ name }), 'undefined', 'text'),
    way('mcpServer({ version })', (version) => serverOf({ version }), 'undefined', 'text'),
  ],
  mcpClient: [
    way('mcpClient', mcpClient),
    way('mcpClient({ command })', (command) => mcpClient({ command }), 'text'),
    way(
      'mcpClient({ command, args })',
      (args) => mcpClient({ command: 'x', args }),
      'undefined',
      'list',
    ),
    way(
      'mcpClient({ command, env })',
      (env) => mcpClient({ command: 'x', env }),
      'undefined',
      'object',
      'date',
      'map',
    ),
    way(
      'mcpClient({ command, cwd })',
      (cwd) => mcpClient({ command: 'x', cwd }),
      'undefined',
      'text',
      'empty text',
    ),
    way('mcpClient({ url })', (url) => mcpClient({ url })),
    way(
      'mcpClient({ url, headers })',
      (headers) => mcpClient({ url: 'http://x', headers }),
      'undefined',
      'object',
      'date',
      'map',
    ),
    way('mcpClient({ url, type })', (type) => mcpClient({ url: 'http://x', type }), 'undefined'),
    way(
      'mcpClient(server, options)',
      (options) => mcpClient({ url: 'http://x' }, options),
      'undefined',
      'object',
    ),
    way(
      'mcpClient(server, { authProvider })',
      (authProvider) => mcpClient({ url: 'http://x' }, { authProvider }),
      'undefined',
    ),
  ],
  mcpOAuth: [
    way('mcpOAuth', mcpOAuth),
    way('mcpOAuth({ url })', (url) => oauthOf({ url })),
    way('mcpOAuth({ redirectUrl })', (redirectUrl) => oauthOf({ redirectUrl })),
    way('mcpOAuth({ storage })', (storage) => oauthOf({ storage }), 'map'),
    way('mcpOAuth({ clientName })', (name) => oauthOf({ clientName: name }), 'undefined', 'text'),
    way('mcpOAuth({ scope })', (scope) => oauthOf({ scope }), 'undefined', 'text'),
    way('mcpOAuth({ client })', (client) => oauthOf({ client }), 'undefined'),
    way('mcpOAuth({ clientMetadataUrl })', (at) => oauthOf({ clientMetadataUrl: at }), 'undefined'),
    way('mcpOAuth({ dpop })', (dpop) => oauthOf({ dpop }), 'undefined', 'function'),
    way('mcpOAuth().finish', (callback) => oauthOf({}).finish(callback)),
  ],
}
