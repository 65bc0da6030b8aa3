import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { httpServer } from '../../cli/run/node-http.ts'
import { Tool } from '../../tools/tool.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { mcpServer } from '../server/mcp-server.ts'
import { mcpClient } from './mcp-client.ts'
import { mcpTools } from './mcp-tools.ts'

const tool = (name: string, handler: () => string | Promise<string>) =>
  new Tool({ name, description: name, inputSchema: { type: 'object' }, handler })

let home: Server | undefined
afterEach(() => {
  home?.closeAllConnections()
  home?.close()
})

describe('a call whose answer is lost', () => {
  it('does not end the other calls of the same server', async () => {
    let end = () => {}
    let closed = 0
    const broken = new Promise<void>((resolve) => (end = resolve))
    const served = mcpServer({
      tools: [
        tool('slow', async () => {
          await broken
          return 'well'
        }),
        tool('broken', () => 'never seen'),
      ],
    })
    home = httpServer(async (request) => {
      const isBroken = (await request.clone().text()).includes('"name":"broken"')
      if (!isBroken) return served.handle(request)
      setTimeout(end, 200)
      return new Response('bad gateway', { status: 502 })
    })
    await new Promise<void>((resolve) => home?.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(home.address() as AddressInfo).port}/mcp`
    const open = mcpClient({ url })
    const counted = async () => {
      const client = await open()
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is not an event target
      client.onclose = () => (closed += 1)
      return client
    }
    const tools = await mcpTools(counted)
    const runner = new TurnRunner({
      tools: () => tools,
      policy: 'open',
      executor: async ({ turnToolCalls }) =>
        turnToolCalls.length > 0
          ? { answer: '' }
          : { calls: ['slow', 'broken'].map((name) => ({ tool: name, args: {} })) },
    })
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(toolCalls.map((call) => [call.tool, call.settlement])).toEqual([
      ['slow', 'ok'],
      ['broken', 'in-doubt'],
    ])
    // The client on which an answer was lost is closed after its last call.
    expect(closed).toBe(1)
    await tools.close()
    await served.close()
  })
})
