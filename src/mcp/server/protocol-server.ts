import type { CallToolResult, Server } from '@modelcontextprotocol/server'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { Tool } from '../../tools/tool.ts'
import { isJsonObject } from '../client/safe-schema.ts'
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
  { Server: ServerClass, ProtocolError }: Sdk,
  { listChanged, ...info }: ServerFacts,
  scope: ServedScope,
  calls: ServedCalls,
): Server {
  const server = new ServerClass(info, {
    capabilities: { tools: listChanged ? { listChanged } : {}, resources: {} },
    requestState: { verify: (state) => readState(scope.store, state) },
  })
  server.setRequestHandler('tools/list', () => {
    const tools = scope.tools()
    // A tool that may give a handle here may give a link there.
    const queries = tools.some(({ inline }) => inline !== true) ? [...resultQueries()] : []
    return { tools: [...tools, ...queries].map(definitionOf) }
  })
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const args = (params.arguments ?? {}) as JsonObject
    const tool = scope.tools().find((each) => each.name === params.name)
    if (tool === undefined) {
      const answer = await queryAnswer(scope, params.name, args, ctx.mcpReq.signal)
      if (answer !== undefined) return answer
      throw new ProtocolError(INVALID, `Unknown tool: ${params.name}`)
    }
    const call = { tool: tool.name, args }
    const state = ctx.mcpReq.requestState<CallState>()
    const result = state ? calls.resume(call, state, ctx) : calls.run(call, ctx)
    return (await result) as never
  })
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [TEMPLATE] }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const contents = await readResult(scope, uri)
    if (contents !== undefined) return { contents: [contents] }
    throw new ProtocolError(NOT_FOUND, `Resource not found: ${uri}`, { uri })
  })
  return server
}

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
    inputSchema: withoutHeaders(jsonSchema) as { type: 'object' },
    annotations: {
      readOnlyHint: effect === 'read',
      ...(effect !== 'read' && { idempotentHint: effect === 'idempotent' }),
    },
  }
}

/** A schema that asks for no HTTP headers: tools of another server may, and ours would have to check them. */
function withoutHeaders(part: JsonValue): JsonValue {
  if (Array.isArray(part)) return part.map((each: JsonValue) => withoutHeaders(each))
  if (!isJsonObject(part)) return part
  const left = Object.entries(part).filter(
    ([name, value]) => name !== 'x-mcp-header' || typeof value !== 'string',
  )
  return Object.fromEntries(left.map(([name, value]) => [name, withoutHeaders(value)]))
}
