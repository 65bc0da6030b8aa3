import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { Tool } from '../../tools/tool.ts'
import type { ToolContext } from '../../tools/tool-context.ts'
import { type McpServerOptions, mcpServer } from './mcp-server.ts'

const ran: string[] = []
const tool = (
  name: string,
  work: (ctx: ToolContext) => unknown = () => ran.push(name),
  more = {},
) =>
  new Tool({
    name,
    description: name,
    inputSchema: { type: 'object' },
    handler: async (_, ctx) => String(await work(ctx)),
    ...more,
  })

/** What a client gets that approves everything. */
async function answerOf(name: string, options: McpServerOptions) {
  ran.length = 0
  const server = mcpServer(options)
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
  )
  client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: { approve: true },
  }))
  const fetch = (url: string | URL, init?: RequestInit) => server.handle(new Request(url, init))
  await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/'), { fetch }))
  const { content, isError } = await client.callTool({ name })
  await client.close()
  await server.close()
  return { text: JSON.stringify(content), isError: isError === true, ran: [...ran] }
}

describe('`runner` of mcpServer', () => {
  it('gives calls of clients the middleware, secrets and time limit of a runner', async () => {
    const guarded = await answerOf('send', {
      tools: [tool('send')],
      runner: {
        middleware: [
          {
            async call({ tool: name }) {
              throw new Error(`The rules forbid ${name}.`)
            },
          },
        ],
      },
    })
    expect(guarded).toMatchObject({ isError: true, ran: [] })
    const secret = tool('secret', async (ctx) => (await ctx.secret('KEY')).length)
    const read = await answerOf('secret', {
      tools: [secret],
      runner: { secrets: (name) => `${name}-value` },
    })
    expect(read).toMatchObject({ isError: false, text: expect.stringContaining('9') as string })
    const slow = tool('slow', () => new Promise(() => {}))
    const late = await answerOf('slow', { tools: [slow], runner: { timeoutMs: 20 } })
    expect(late).toMatchObject({ isError: true })
  })

  it.each([['client' as const], [undefined]])(
    'ends a call that `mayDecide` keeps from clients, with approvals: %s',
    async (approvals) => {
      const store = memoryStore()
      const answer = await answerOf('pay', {
        tools: [tool('pay', undefined, { approval: true })],
        store,
        runner: { mayDecide: () => false },
        ...(approvals && { approvals }),
      })
      expect(answer).toMatchObject({ isError: true, ran: [] })
      expect(answer.text).toContain('It was not run.')
      expect(await store.openGates()).toEqual([])
    },
  )

  it('refuses options that need a model, or that the server has itself', () => {
    for (const name of ['model', 'executor', 'tools', 'store', 'telemetry', 'agents']) {
      const runner = { [name]: undefined }
      expect(() => mcpServer({ tools: [], runner })).toThrow(
        `\`runner.${name}\` of \`mcpServer\` does not count for calls of clients`,
      )
    }
    expect(() => mcpServer({ tools: [], runner: { polcy: 'open' } as never })).toThrow('`policy`')
  })
})
