// The README's second program: a model, a store and a stream. The provider is a server on this machine.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Tool, TurnRunner } from 'bobbin-adk'
import { loopbackProvider } from 'bobbin-adk/testing'
import { wire } from 'bobbin-adk/wire'
import { z } from 'zod'

const readLog = new Tool({
  name: 'read_log',
  description: 'Reads the log of a service.',
  inputSchema: z.object({ service: z.string() }),
  effect: 'read',
  inline: false,
  handler: ({ service }) => `${service} is well\n`.repeat(100_000).concat('out of memory'),
})
/** @param {string} call_id @param {string} name @param {object} args */
const asked = (call_id, name, args) => {
  return { type: 'function_call', call_id, name, arguments: JSON.stringify(args) }
}
const content = [{ type: 'output_text', text: 'It ran out of memory.', annotations: [] }]
const output = [
  asked('call_1', 'read_log', { service: 'checkout' }),
  asked('call_2', 'artifact_grep', { callId: 'call_1', pattern: 'memory' }),
  { type: 'message', id: 'msg_1', role: 'assistant', content },
]
const server = await loopbackProvider({
  api: 'openai-responses',
  exchanges: output.map((item) => ({
    events: [
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { status: 'completed', output: [item] } },
    ],
  })),
  validate: wire('openai-responses').validate,
})
const folder = mkdtempSync(join(tmpdir(), 'bobbin-model-'))
const home = process.cwd()
process.chdir(folder)
process.env['OPENAI_API_KEY'] = 'key'
process.env['OPENAI_BASE_URL'] = server.url

// #region program
import { openaiResponses } from 'bobbin-adk/openai'
import { sqliteStore } from 'bobbin-adk/sqlite'
import OpenAI from 'openai'

const agent = new TurnRunner({
  model: openaiResponses({ client: new OpenAI(), model: 'gpt-5.4' }),
  tools: [readLog],
  store: sqliteStore('agent.db'), // settled calls survive the process
})
const turn = agent.stream({ conversation: 'incident-42', message: 'Why did checkout fail?' })
for await (const event of turn) {
  if (event.type === 'message') process.stdout.write(event.delta ?? '')
  if (event.type === 'toolCall') console.log(event.tool, event.settlement ?? 'asked')
}
const outcome = await turn.outcome // status, text, toolCalls, usage and, unless completed, the reason
// #endregion program

assert.equal(outcome.text, 'It ran out of memory.')
assert.equal(outcome.status, 'completed')
assert.equal(server.remaining, 0)
console.log(`${outcome.toolCalls.length} calls are in the store.`)
await server.close()
process.chdir(home)
rmSync(folder, { recursive: true })
