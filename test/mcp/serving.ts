import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { McpServer } from '../../src/mcp/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import type { ToolContext } from '../../src/tools/tool-context.ts'

type Handler = (args: Record<string, unknown>, ctx: ToolContext) => unknown

/** A tool that takes any arguments. */
export const plain = (name: string, handler: Handler, more: object = {}) =>
  new Tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object' },
    handler: handler as () => string,
    ...more,
  })

const ASKABLE: ClientOptions = { capabilities: { elicitation: { form: {}, url: {} } } }

/** A client over HTTP without a socket. */
export async function clientOf(server: McpServer, options: ClientOptions = {}): Promise<Client> {
  const mode = { versionNegotiation: { mode: 'auto' as const } }
  const client = new Client({ name: 'test', version: '1' }, { ...mode, ...ASKABLE, ...options })
  const fetch = (url: string | URL, init?: RequestInit) => server.handle(new Request(url, init))
  const url = new URL('http://localhost/mcp')
  await client.connect(new StreamableHTTPClientTransport(url, { fetch }))
  return client
}

/** What a call asks, with the state that belongs to it. */
export interface Asked {
  readonly gate: string
  readonly requestState: string
  readonly request: { readonly params: Record<string, unknown> }
}

/** Calls a tool that asks something, and does not answer. */
export async function asked(client: Client, name: string, args: object = {}): Promise<Asked> {
  const result = await client.callTool(
    { name, arguments: args as Record<string, unknown> },
    { allowInputRequired: true },
  )
  const { inputRequests, requestState } = result as unknown as {
    inputRequests: Record<string, Asked['request']>
    requestState: string
  }
  const [[gate, request] = ['', { params: {} }]] = Object.entries(inputRequests)
  return { gate, requestState, request }
}

/** Answers what a call asked. */
export function answered(
  client: Client,
  name: string,
  { gate, requestState }: Asked,
  answer: object,
  args: object = {},
) {
  const params = { name, arguments: args as Record<string, unknown> }
  const inputResponses = { [gate]: answer }
  return client.callTool({ ...params, requestState, inputResponses } as typeof params, {
    allowInputRequired: true,
  })
}

/** The text of a result. */
export const textOf = ({ content }: object & { readonly content?: unknown }): string =>
  ((content ?? []) as { readonly text?: string }[]).map(({ text = '' }) => text).join('\n')
