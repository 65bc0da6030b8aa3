// An agent file under the `bobbin` command: agent/agent.mjs, on a provider that is a server on this machine.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { loopbackProvider } from 'bobbin-adk/testing'
import { wire } from 'bobbin-adk/wire'

const inFolder = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))
const agent = inFolder('agent/agent.mjs')
const args = JSON.stringify({ path: agent })
const call = { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: args }
const content = [{ type: 'output_text', text: 'It reads files.', annotations: [] }]
const said = { type: 'message', id: 'msg_1', role: 'assistant', content }
/** @param {object} item */
const stream = (item) => {
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [item] }
  const done = { type: 'response.output_item.done', output_index: 0, item }
  return { events: [done, { type: 'response.completed', response }] }
}
const server = await loopbackProvider({
  api: 'openai-responses',
  exchanges: [stream(call), stream(said)],
  validate: wire('openai-responses').validate,
})
const folder = await mkdtemp(join(tmpdir(), 'bobbin-agent-'))
try {
  const command = [inFolder('../dist/cli/main.js'), 'run', 'What does the agent do?']
  const options = ['--agent', agent, '--store', join(folder, 'agent.db'), '--json']
  const env = { ...process.env, OPENAI_API_KEY: 'key', OPENAI_BASE_URL: server.url }
  const { stdout } = await promisify(execFile)(process.execPath, [...command, ...options], { env })
  assert.match(stdout, /It reads files\./)
  assert.match(stdout, /read_file/)
  assert.equal(server.remaining, 0)
} finally {
  await server.close()
  await rm(folder, { recursive: true })
}
console.log('An agent file, run by the command.')
