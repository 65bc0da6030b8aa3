// A program whose turns are traced by the real SDK and sent over OTLP. Its first argument names what it does, the second is its database.
import { trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { BobbinError, subAgent, Tool, TurnRunner } from 'bobbin-adk'
import { mcpClient, mcpServer, mcpTools } from 'bobbin-adk/mcp'
import { telemetry } from 'bobbin-adk/otel'
import { sqliteStore } from 'bobbin-adk/sqlite'
import { scriptedModel } from 'bobbin-adk/testing'

const [what = '', database = ''] = process.argv.slice(2)
// Without detectors, so that only what we send is looked at.
const sdk = new NodeSDK({ resourceDetectors: [] })
sdk.start()

const inputSchema = { type: 'object', properties: { q: { type: 'string' } } }
/** @param {string} name @param {(ctx: any) => any} handler @param {object} [more] */
const tool = (name, handler, more = {}) =>
  new Tool({
    name,
    description: 'CANARY-description',
    inputSchema: /** @type {any} */ (inputSchema),
    effect: 'read',
    handler: (_args, ctx) => handler(ctx),
    ...more,
  })

const look = tool('look', async () => {
  const span = trace.getTracer('app').startSpan('work of the handler')
  await new Promise((resolve) => setTimeout(resolve, 5))
  span.end()
  return 'CANARY-result'
})
const args = { q: 'CANARY-argument' }
/** @param {...string} tools */
const asks = (...tools) => tools.map((call, at) => ({ call, id: `c${at + 1}`, args }))
const answer = [{ text: 'CANARY-answer' }]
const store = sqliteStore(database)
/** @param {any} model @param {any[]} tools @param {object} [more] */
const runnerOf = (model, tools, more = {}) =>
  new TurnRunner({
    model,
    tools,
    store,
    telemetry: telemetry(),
    instructions: 'CANARY-instructions',
    testing: { sleep: async () => {} },
    ...more,
  })
const turn = { conversation: 'c', message: 'CANARY-message', context: { user: 'CANARY-context' } }

/** @type {Record<string, () => Promise<unknown>>} */
const WORK = {
  parallel: () => runnerOf(scriptedModel([asks('look', 'look', 'look'), answer]), [look]).run(turn),
  async nested() {
    const agent = { model: scriptedModel([asks('look'), answer]), tools: [look] }
    const inner = subAgent({ name: 'inner', description: 'CANARY-description', agent })
    const script = [[{ call: 'inner', id: 'c1', args: { task: 'CANARY-task' } }], answer]
    await runnerOf(scriptedModel(script), [inner]).run(turn)
  },
  async retried() {
    const inside = scriptedModel([answer])
    let asked = 0
    const model = {
      ...inside,
      /** @param {any} request @param {any} options */
      async *stream(request, options) {
        asked += 1
        if (asked < 3) {
          const data = /** @type {any} */ ({ isRetryable: true })
          throw new BobbinError('E_PROVIDER_UNAVAILABLE', 'CANARY-error', data)
        }
        yield* inside.stream(request, options)
      },
    }
    await runnerOf(model, []).run(turn)
  },
  gated: () =>
    runnerOf(scriptedModel([asks('send')]), [tool('send', () => 'sent', { approval: true })]).run(
      turn,
    ),
  async resumed() {
    const send = tool('send', () => 'sent', { approval: true })
    const [gate] = await store.openGates('c')
    const decisions = [{ gate: gate?.id ?? '', decidedBy: 'CANARY-person', approve: true }]
    await runnerOf(scriptedModel([answer]), [send]).resume({ conversation: 'c', decisions })
  },
  async killed() {
    const send = tool(
      'send',
      async () => {
        // The other call ends first.
        await new Promise((resolve) => setTimeout(resolve, 200))
        await sdk.shutdown()
        process.kill(process.pid, 'SIGKILL')
        await new Promise(() => {})
      },
      { effect: 'write' },
    )
    await runnerOf(scriptedModel([asks('look', 'send')]), [look, send]).run(turn)
  },
  async recovered() {
    const send = tool('send', () => 'sent', { effect: 'write' })
    const runner = runnerOf(scriptedModel([answer]), [look, send])
    await runner.recover({ conversation: 'c', force: true })
  },
  async served() {
    const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
    await mcpServer({ tools: [look], telemetry: telemetry() }).connect(new StdioServerTransport())
    await new Promise((resolve) => process.stdin.once('end', resolve))
  },
  async remote() {
    const command = [process.argv[1] ?? '', 'served', `${database}-server`]
    const env = /** @type {Record<string, string>} */ ({ ...process.env })
    const tools = await mcpTools(mcpClient({ command: process.execPath, args: command, env }))
    const model = scriptedModel([asks('look'), answer])
    await runnerOf(model, [...tools], { policy: 'open' }).run(turn)
    await tools.close()
  },
}

await WORK[what]?.()
await sdk.shutdown()
await store.close()
