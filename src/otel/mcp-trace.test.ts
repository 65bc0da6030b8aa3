import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base'
import { beforeAll, describe, expect, it } from 'vitest'
import { propagateContext, type Traced, traced } from '../../test/otel/traced.ts'
import { sampleTool } from '../../test/turn-samples.ts'
import type { JsonObject } from '../core/json/json.ts'
import { mcpServer, mcpTools } from '../mcp/index.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { Tool } from '../tools/tool.ts'
import type { TraceContext } from '../tools/tool-context.ts'
import { subAgent } from '../turn/nested/sub-agent.ts'
import { TurnRunner } from '../turn/turn-runner.ts'

beforeAll(propagateContext)

const NAME = { name: 'test', version: '1' }
const AUTO = { versionNegotiation: { mode: 'auto' } } as const

/** A client of a server with these tools, as two programs would be. */
async function connected(sdk: Traced, tools: readonly Tool[], agents = {}): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  await mcpServer({ tools, agents, telemetry: sdk.telemetry }).connect(far)
  const client = new Client(NAME, AUTO)
  await client.connect(near)
  return client
}

const turnOf = (sdk: Traced, tool: string, tools: Iterable<Tool>, args: JsonObject = { q: 'x' }) =>
  new TurnRunner({
    model: scriptedModel([[{ call: tool, args }], [{ text: 'so' }]]),
    tools,
    policy: 'open',
    telemetry: sdk.telemetry,
  }).run({ message: 'go' })

const look = sampleTool('look', () => 'seen')

describe('a trace across MCP', () => {
  it('has the call of the server inside the call of the client', async () => {
    const [here, there] = [traced(), traced()]
    const client = await connected(there, [look])
    await turnOf(here, 'look', await mcpTools(client))
    const asked = here.span('execute_tool look').spanContext()
    const served = there.span('tools/call look')
    expect(there.spans()).toHaveLength(1)
    expect(served.kind).toBe(1)
    expect(served.spanContext().traceId).toBe(asked.traceId)
    expect(served.parentSpanContext).toMatchObject({ spanId: asked.spanId, isRemote: true })
    expect(served.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'look',
      'bobbin.call.settlement': 'ok',
    })
    await client.close()
  })

  it('links to the span of the transport, and measures the request', async () => {
    const [here, there] = [traced(), traced()]
    const server = mcpServer({ tools: [look], telemetry: there.telemetry })
    const client = new Client(NAME, AUTO)
    const fetch = (url: string | URL, init?: RequestInit) =>
      there.tracer.startActiveSpan('POST', (span) =>
        server.handle(new Request(url, init)).finally(() => span.end()),
      )
    const address = new URL('http://localhost/mcp')
    await client.connect(new StreamableHTTPClientTransport(address, { fetch }))
    await turnOf(here, 'look', await mcpTools(client))
    const served = there.span('tools/call look')
    const transport = there.spans().filter(({ name }) => name === 'POST')
    const ids = transport.map((span) => span.spanContext().spanId)
    expect(served.parentSpanContext?.spanId).toBe(
      here.span('execute_tool look').spanContext().spanId,
    )
    expect(served.links).toHaveLength(1)
    expect(ids).toContain(served.links[0]?.context.spanId)
    expect(await there.metrics()).toEqual({ 'mcp.server.operation.duration': 1 })
    await client.close()
    await server.close()
  })

  it('has the turn of a served agent inside the call of the server', async () => {
    const [here, there] = [traced(), traced()]
    const model = scriptedModel([[{ text: 'so' }]])
    const ask = new TurnRunner({ model, tools: [], telemetry: there.telemetry })
    const client = await connected(there, [], { ask })
    await turnOf(here, 'ask', await mcpTools(client), { message: 'go' })
    const served = there.span('tools/call ask').spanContext()
    const turn = there.span('invoke_agent')
    expect(turn.parentSpanContext?.spanId).toBe(served.spanId)
    expect(turn.spanContext().traceId).toBe(here.span('invoke_agent').spanContext().traceId)
    await client.close()
  })

  it('has the turn of a served sub-agent inside the call of the server', async () => {
    const there = traced()
    const agent = {
      tools: [look],
      model: scriptedModel([[{ call: 'look', id: 'c1', args: { q: 'x' } }], [{ text: 'so' }]]),
    }
    const helper = subAgent({ name: 'helper', description: 'Helps.', agent })
    const client = await connected(there, [helper])
    await client.callTool({ name: 'helper', arguments: { task: 'x' } })
    expect(there.tree()).toEqual({
      'tools/call helper': {
        'invoke_agent helper': {
          'chat scripted': {},
          'execute_tool look': {},
          'chat scripted (2)': {},
        },
      },
    })
    expect(await there.metrics()).toMatchObject({
      'mcp.server.operation.duration': 1,
      'gen_ai.invoke_agent.duration': 1,
      'gen_ai.execute_tool.duration': 1,
    })
    await client.close()
  })

  it('says which request it served, and that its result is an error', async () => {
    const there = traced()
    const fail = sampleTool('fail', () => {
      throw new Error('CANARY')
    })
    const client = await connected(there, [fail])
    await client.callTool({ name: 'fail', arguments: { q: 'x' } })
    const { attributes, status } = there.span('tools/call fail')
    expect([attributes, status]).toEqual([
      {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'fail',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': expect.any(String) as string,
        'mcp.method.name': 'tools/call',
        'jsonrpc.request.id': expect.stringMatching(/^\d+$/) as string,
        'error.type': 'tool_error',
        'bobbin.call.checksum': expect.any(String) as string,
        'bobbin.call.digest': expect.any(String) as string,
        'bobbin.call.settlement': 'failed',
      },
      { code: 2 },
    ])
    expect(await there.points('mcp.server.operation.duration')).toMatchObject([
      {
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'fail',
          'mcp.method.name': 'tools/call',
          'error.type': 'tool_error',
        },
      },
    ])
    await client.close()
  })

  it('passes the decision not to sample on', async () => {
    const [here, there] = [traced({ sampler: new AlwaysOffSampler() }), traced()]
    let seen: TraceContext | undefined
    const tool = sampleTool('look', (_args, ctx) => {
      seen = ctx.trace
      return 'seen'
    })
    const client = await connected(there, [tool])
    await turnOf(here, 'look', await mcpTools(client))
    expect(seen?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    expect(there.spans()).toEqual([])
    await client.close()
  })

  it('ignores a `traceparent` that is not valid', async () => {
    const there = traced()
    const client = await connected(there, [look])
    const wrong = ['nonsense', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`, 'x'.repeat(100_000)]
    for (const traceparent of wrong) {
      const params = { name: 'look', arguments: { q: 'x' }, _meta: { traceparent } }
      expect((await client.callTool(params)).isError).toBeUndefined()
    }
    expect(there.spans().map(({ parentSpanContext }) => parentSpanContext)).toEqual(
      wrong.map(() => undefined),
    )
    await client.close()
  })

  it('sends nothing about a trace without telemetry', async () => {
    let seen: TraceContext | undefined
    const tool = sampleTool('look', (_args, ctx) => {
      seen = ctx.trace
      return 'seen'
    })
    const model = scriptedModel([[{ call: 'look', args: { q: 'x' } }], [{ text: 'so' }]])
    await new TurnRunner({ model, tools: [tool] }).run({ message: 'go' })
    expect(seen).toBeUndefined()
  })
})
