// The client that the official conformance suite drives: an agent that calls every tool of the server once.
import { TurnRunner } from 'bobbin-adk'
import { mcpClient, mcpTools } from 'bobbin-adk/mcp'

const url = process.argv.at(-1) ?? ''

/**
 * Arguments that fit a schema, as a model would write them.
 *
 * @param {any} schema
 * @returns {any}
 */
function example(schema) {
  if (schema.default !== undefined) return schema.default
  if (schema.enum !== undefined) return schema.enum[0]
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, part]) => [name, example(part)]),
      )
    case 'array':
      return []
    case 'number':
    case 'integer':
      return 5
    case 'boolean':
      return true
    default:
      return 'text'
  }
}

const tools = await mcpTools(mcpClient({ url }))
const { toolCalls } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}')
const focal = [...tools].find(({ name }) => name === 'json_schema_2020_12_tool')
/** @type {{ name: string, arguments: any }[]} */
const wanted =
  toolCalls ??
  [...tools].map(({ name, jsonSchema }) => ({
    name,
    // One scenario wants to see what became of a schema.
    arguments: focal && name !== focal.name ? { schema: focal.jsonSchema } : example(jsonSchema),
  }))
for (const call of wanted) {
  // A model leaves out what it has no value for: the schemas do not allow null.
  const given = Object.entries(call.arguments).filter(([, value]) => value !== null)
  const args = Object.fromEntries(given)
  const runner = new TurnRunner({
    tools: () => tools,
    policy: 'open',
    executor: async ({ turnToolCalls }) =>
      turnToolCalls.length > 0 ? { answer: 'Done.' } : { calls: [{ tool: call.name, args }] },
  })
  let outcome = await runner.run({ message: 'Go.' })
  for (let round = 0; outcome.status === 'suspended' && round < 10; round += 1) {
    const { conversation } = outcome
    const decisions = outcome.gates.map((gate) =>
      gate.kind === 'link'
        ? { gate: gate.id, decidedBy: 'suite', done: /** @type {const} */ (true) }
        : { gate: gate.id, decidedBy: 'suite', value: example(gate.schema ?? {}) },
    )
    outcome = await runner.resume({ conversation, decisions })
  }
}
await tools.close()
