import type {
  CallToolResult,
  ClientCapabilities,
  McpServer as SdkServer,
} from '@modelcontextprotocol/server'

import { isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Tool } from '../../tools/tool.ts'
import { RESULT_TEMPLATE, readResult } from './resources.ts'
import { askResult, resultQueries } from './result-queries.ts'
import type { Sdk } from './sdk.ts'
import type { ServedCalls, ServedScope } from './served-call.ts'
import { type CallState, readState } from './signed-state.ts'

/** What a server says of itself. */
export interface ServerFacts {
  readonly name: string
  readonly version: string
  readonly listChanged: boolean
}

/** The server object for one connection or request. */
export function protocolServer(
  { McpServer, ProtocolError, CLIENT_CAPABILITIES_META_KEY }: Sdk,
  { listChanged, ...info }: ServerFacts,
  scope: ServedScope,
  calls: ServedCalls,
): SdkServer {
  /** Over HTTP, the SDK checks the headers that the schema of a tool asks for. */
  class CheckedServer extends McpServer {
    override toolInputSchemaJson(name: string) {
      return toolNamed(scope, name)?.jsonSchema
    }
  }
  const checked = new CheckedServer(info, {
    requestState: { verify: (state) => readState(scope.store, state) },
  })
  const { server } = checked
  server.registerCapabilities({ tools: listChanged ? { listChanged } : {}, resources: {} })
  server.setRequestHandler('tools/list', () => {
    const tools = scope.tools()
    // A tool that may give a handle here may give a link there.
    const queries = tools.some(({ inline }) => inline !== true) ? [...resultQueries()] : []
    const others = queries.filter(({ name }) => toolNamed(scope, name) === undefined)
    return { tools: [...tools, ...others].map(definitionOf) }
  })
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const args = (params.arguments ?? {}) as JsonObject
    const tool = toolNamed(scope, params.name)
    if (tool === undefined) {
      const answer = await queryAnswer(scope, params.name, args, ctx.mcpReq.signal)
      if (answer !== undefined) return answer
      throw new ProtocolError(INVALID, `Unknown tool: ${params.name}`)
    }
    const call = { tool: tool.name, args }
    const state = ctx.mcpReq.requestState<CallState>()
    // Since 2026-07-28 each request says what its client can do.
    const said = ctx.mcpReq.envelope as Record<string, ClientCapabilities> | undefined
    const capabilities = said?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
    const caller = { ctx, capabilities }
    try {
      const result = state ? calls.resume(call, state, caller) : calls.run(call, caller)
      return (await result) as never
    } catch (error) {
      if (!isBobbinError(error, 'E_INVALID_DECISION')) throw error
      throw new ProtocolError(INVALID, error.message)
    }
  })
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [TEMPLATE] }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const contents = await readResult(scope, uri)
    if (contents !== undefined) return { contents: [contents] }
    throw new ProtocolError(NOT_FOUND, `Resource not found: ${uri}`, { uri })
  })
  return checked
}

const toolNamed = ({ tools }: ServedScope, name: string) =>
  tools().find((each) => each.name === name)

/** The answer of a tool that queries a large result. */
async function queryAnswer(
  scope: ServedScope,
  name: string,
  args: JsonObject,
  signal: AbortSignal,
): Promise<CallToolResult | undefined> {
  try {
    const text = await askResult(scope, name, args, signal)
    return text === undefined ? undefined : { content: [{ type: 'text', text }] }
  } catch (error) {
    return { content: [{ type: 'text', text: thrownText(error) }], isError: true }
  }
}

const INVALID = -32_602
const NOT_FOUND = -32_002

const TEMPLATE = {
  uriTemplate: RESULT_TEMPLATE,
  name: 'result',
  description: 'A result that was too large to be sent whole. `start` and `end` count bytes.',
}

function definitionOf({ name, description, jsonSchema, effect }: Tool) {
  return {
    name,
    description,
    inputSchema: jsonSchema as { type: 'object' },
    annotations: {
      readOnlyHint: effect === 'read',
      ...(effect !== 'read' && { idempotentHint: effect === 'idempotent' }),
    },
  }
}
