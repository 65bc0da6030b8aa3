// MCP both ways: a server with a tool of yours, and an agent that uses it under its own policy.
import assert from 'node:assert/strict'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { Tool, TurnRunner } from 'bobbin-adk'
import { mcpServer, mcpTools } from 'bobbin-adk/mcp'
import { scriptedModel } from 'bobbin-adk/testing'

// #region server
const stock = new Tool({
  name: 'stock',
  description: 'Tells how many of an article are in stock.',
  inputSchema: { type: 'object', properties: { article: { type: 'string' } } },
  effect: 'read',
  handler: ({ article }) => ({ article, inStock: 12 }),
})

const server = mcpServer({ name: 'shop', tools: [stock] })
// `server.connect(transport)` serves stdio, `server.handle(request)` HTTP.
// #endregion server

// A pair of transports in one process stands for a network here.
const open = async () => {
  const [here, there] = InMemoryTransport.createLinkedPair()
  await server.connect(there)
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(here)
  return client
}

// #region client
// `open` connects a client; `mcpClient({ command, args })` and `mcpClient({ url })` give such a function.
const tools = await mcpTools(open, { prefix: 'shop_', effects: { stock: 'read' } })

const model = scriptedModel([
  [{ call: 'shop_stock', args: { article: 'bobbin' } }],
  [{ text: 'Twelve are left.' }],
])
const runner = new TurnRunner({ model, tools: () => tools })
const outcome = await runner.run({ message: 'How many bobbins are left?' })
// #endregion client

assert.equal(outcome.text, 'Twelve are left.')
assert.equal(outcome.toolCalls[0]?.settlement, 'ok')
assert.equal(outcome.toolCalls[0]?.trust, 'third-party')
await tools.close()
await server.close()
console.log('mcp: all as expected')
