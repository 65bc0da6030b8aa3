// A process with an agent whose MCP server asks a form. It asks and dies, or answers in a new process. Its arguments are what to do, a
// database, and the program of the server with its own arguments.
import { existsSync, readFileSync } from 'node:fs'
import { TurnRunner } from 'bobbin-adk'
import { mcpClient, mcpTools } from 'bobbin-adk/mcp'
import { sqliteStore } from 'bobbin-adk/sqlite'
import { scriptedModel } from 'bobbin-adk/testing'

const [phase, database = '', server = '', ...args] = process.argv.slice(2)
const store = sqliteStore(database)
const open = mcpClient({ command: process.execPath, args: [server, ...args] })
const tools = await mcpTools(open)
const steps = phase === 'ask' ? [[{ call: 'form' }]] : [[{ text: 'Done.' }]]
const runner = new TurnRunner({ model: scriptedModel(steps), tools, store })

if (phase === 'ask') {
  const { status, gates } = await runner.run({ message: 'Book.', conversation: 'booking' })
  process.stdout.write(`${JSON.stringify({ status, kind: gates[0]?.kind })}\n`)
  // Both die without a word: the server with its input, or at once if it says which process it is.
  const pids = `${args.at(-1)}.pid`
  if (existsSync(pids)) process.kill(Number(readFileSync(pids, 'utf8')), 'SIGKILL')
  process.kill(process.pid, 'SIGKILL')
}
const [gate] = await store.openGates('booking')
const decisions = [{ gate: gate?.id ?? '', decidedBy: 'ada', value: { city: 'Oslo' } }]
const outcome = await runner.resume({ conversation: 'booking', decisions })
const settled = outcome.toolCalls.map(({ settlement }) => settlement)
const artifact = /** @type {import('bobbin-adk').SpooledArtifact} */ (outcome.toolCalls[0]?.results)
process.stdout.write(`${JSON.stringify({ settled, said: await artifact.asString() })}\n`)
await tools.close()
await store.close()
