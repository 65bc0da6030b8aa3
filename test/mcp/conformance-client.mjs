// The client that the official conformance suite drives: an agent that calls every tool of the server once.
import { isBobbinError, TurnRunner } from 'bobbin-adk'
import { mcpClient, mcpTools } from 'bobbin-adk/mcp'
import { authProviderFor } from './conformance-provider.mjs'

const url = process.argv.at(-1) ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}')
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const authProvider = await authProviderFor(scenario, url, context)

/**
 * Visits the page of a sign-in as the browser of a person does: the authorization server of the suite agrees at once.
 *
 * @param {string} page
 */
async function signIn(page) {
  const response = await fetch(page, { redirect: 'manual' })
  const callback = response.headers.get('location')
  const { finish } = /** @type {Partial<import('bobbin-adk/mcp').McpOAuth>} */ (authProvider)
  if (callback === null || finish === undefined) throw new Error('There is no way back.')
  await finish.call(authProvider, callback)
}

/** Opens the tools, with as many sign-ins as the person has patience for. */
async function openTools() {
  for (let signIns = 0; ; signIns += 1) {
    try {
      return await mcpTools(mcpClient({ url }, { authProvider }))
    } catch (error) {
      const isAsked = isBobbinError(error, 'E_MCP_SIGN_IN') && error.data.url !== undefined
      if (!isAsked || signIns === 3) throw error
      await signIn(error.data.url ?? '')
    }
  }
}

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

const tools = await openTools()
const { toolCalls } = context
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
    for (const { kind, url: page } of outcome.gates) {
      if (kind === 'link' && page !== undefined && scenario.startsWith('auth/')) await signIn(page)
    }
    const decisions = outcome.gates.map((gate) =>
      gate.kind === 'link'
        ? { gate: gate.id, decidedBy: 'suite', done: /** @type {const} */ (true) }
        : { gate: gate.id, decidedBy: 'suite', value: example(gate.schema ?? {}) },
    )
    outcome = await runner.resume({ conversation, decisions })
  }
}
await tools.close()
