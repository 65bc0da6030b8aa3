import { describe, expect, it } from 'vitest'
import { serverWith, toolNamed, WireServer } from '../../../test/mcp/wire-server.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { mcpTools } from './mcp-tools.ts'

/** A schema of about 60,000 characters. */
const LARGE = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`p${i}`, { enum: ['d'.repeat(1_000)] }]),
  ),
}

describe('the list of a server', () => {
  it('is refused when one page has more tools than a call has arguments', async () => {
    const tools = Array.from({ length: 200_000 }, (_, i) => ({
      name: `a${i}`,
      inputSchema: { type: 'object' },
    }))
    const server = serverWith(tools)
    await expect(mcpTools(server.open)).rejects.toMatchObject({
      code: 'E_MCP_INVALID',
      message: expect.stringContaining('more than 20000 tools') as string,
    })
  })

  it('is refused when all its pages together are too large', async () => {
    const description = 'x'.repeat(15_000_000)
    let pages = 0
    const server = new WireServer({
      'tools/list': () => {
        pages += 1
        return { tools: [toolNamed(`t${pages}`, { description })], nextCursor: `${pages}` }
      },
    })
    await expect(mcpTools(server.open)).rejects.toThrow('a list of more than 33554432 characters')
    expect(pages).toBe(3)
  })

  it('offers what fits into a request, and says how to choose', async () => {
    const server = serverWith(
      Array.from({ length: 40 }, (_, i) => toolNamed(`t${i}`, { inputSchema: LARGE })),
    )
    const tools = await mcpTools(server.open)
    expect([...tools].length).toBe(17)
    expect(tools.problems.length).toBe(23)
    expect(tools.problems[0]).toEqual({
      tool: 't17',
      problem:
        'the definitions of this server take more than 1048576 characters: name the tools that you need in `only`',
    })
    const model = scriptedModel([[{ text: 'Done.' }]])
    await new TurnRunner({ model, tools }).run({ message: 'Go.' })
    expect(JSON.stringify(model.requests).length).toBeLessThan(1_300_000)
  })

  it('reports a new problem even if the tools are the same', async () => {
    const list = [toolNamed('a')]
    const server = serverWith(list)
    const client = await server.open()
    const tools = await mcpTools(client)
    let changes = 0
    tools.onChange(() => (changes += 1))
    server.handlers['ping'] = (_, connection) => {
      connection.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
      return {}
    }
    list.push(toolNamed('b', { inputSchema: { type: 'object', allOf: [{ $ref: '#' }] } }))
    await client.ping()
    await expect.poll(() => [tools.problems[0]?.tool, changes]).toEqual(['b', 1])
  })

  it('reports names in the options that the server does not have', async () => {
    const server = serverWith([toolNamed('stock')])
    const tools = await mcpTools(server.open, {
      prefix: 'shop_',
      only: ['stock', 'shop_stock'],
      effects: { sell: 'read' },
    })
    expect(tools.problems).toEqual([
      {
        tool: 'shop_stock',
        problem: 'the server has no such tool: write names as the server does, without the prefix',
      },
      { tool: 'sell', problem: 'the server has no such tool' },
    ])
  })
})

describe('the names of tools', () => {
  it('leave out those of the kit, which would stop the agent', async () => {
    const server = serverWith([
      toolNamed('artifact_head'),
      toolNamed('artifact.x'),
      toolNamed('hand_over'),
      toolNamed('z'),
    ])
    const tools = await mcpTools(server.open)
    expect([...tools].map(({ name }) => name)).toEqual(['z'])
    expect(tools.problems[0]).toEqual({
      tool: 'artifact_head',
      problem: 'the name `artifact_head` belongs to a tool of the kit: give `mcpTools` a `prefix`',
    })
    expect(tools.problems.map(({ tool }) => tool)).toEqual([
      'artifact_head',
      'artifact.x',
      'hand_over',
    ])
    const prefixed = await mcpTools(server.open, { prefix: 'z_' })
    expect([...prefixed].length).toBe(4)
  })

  it('say the way out when two servers have the same', async () => {
    const server = serverWith([toolNamed('a')])
    const [one, two] = [await mcpTools(server.open), await mcpTools(server.open)]
    const model = scriptedModel([[{ text: 'Done.' }]])
    expect(() => new TurnRunner({ model, tools: [...one, ...two] })).toThrow(
      'those of an MCP server get a `prefix` from `mcpTools`',
    )
  })

  it('let a server have them once: of two that become one, the first stays', async () => {
    const [first] = await mcpTools(serverWith([toolNamed('a.b')]).open)
    const projected = first?.name ?? ''
    const server = serverWith([toolNamed('a.b'), toolNamed(projected)])
    const tools = await mcpTools(server.open)
    expect([...tools].map(({ name }) => name)).toEqual([projected])
    expect(tools.problems).toEqual([{ tool: projected, problem: 'another tool has the same name' }])
  })

  it('are refused with a line end', async () => {
    const tools = await mcpTools(serverWith([toolNamed('a\nb')]).open)
    expect(tools.problems).toEqual([{ tool: 'a b', problem: 'its name has hidden characters' }])
  })
})
