// A tool that returns 30 MB: the model gets a handle of a few hundred characters, and greps.
import assert from 'node:assert/strict'
import { SpooledArtifact, Tool, TurnRunner } from 'bobbin-adk'
import { z } from 'zod'

/** @param {string} service @param {number} second */
const lineOf = (service, second) =>
  `${String(second).padStart(7)} ${service.padEnd(18)} ${second === 432_100 ? 'ERROR pool exhausted' : 'INFO  request served'}\n`

// #region tool
const readLog = new Tool({
  name: 'read_log',
  description: 'Reads the log of a service.',
  inputSchema: z.object({ service: z.string() }),
  effect: 'read',
  inline: false, // kept out of the prompt: the model gets a handle and artifact_* tools
  async *handler({ service }) {
    // A stream goes to the spool as it comes; it is never whole in memory.
    for (let hour = 0; hour < 190; hour++) {
      yield Array.from({ length: 3600 }, (_, n) => lineOf(service, hour * 3600 + n)).join('')
    }
  },
})
// #endregion tool

/** @param {unknown} item */
const shown = (item) => JSON.stringify(item)
/** @type {string[]} */
const requests = []

const runner = new TurnRunner({
  tools: [readLog],
  // Stands for a model: it sees `items` and nothing else of the log.
  executor: async ({ iteration, turnToolCalls: [log], items, tools }) => {
    requests.push(shown(items))
    if (iteration === 1) return { calls: [{ tool: 'read_log', args: { service: 'checkout' } }] }
    if (iteration === 2) {
      assert.ok(tools.names.includes('artifact_grep'), 'forged while a handle is shown')
      const args = { callId: log?.id, pattern: 'ERROR .*' }
      return { calls: [{ tool: 'artifact_grep', args }] }
    }
    return { answer: shown(items.at(-1)).includes('pool exhausted') ? 'The pool.' : 'No idea.' }
  },
})

const { text, toolCalls } = await runner.run({ message: 'Why did checkout fail?' })
assert.equal(text, 'The pool.')

// #region artifact
const artifact = toolCalls[0]?.results
assert.ok(artifact instanceof SpooledArtifact)
assert.ok(artifact.byteLength() > 28_000_000)
const { lines } = await artifact.grep('ERROR', { context: 1 })
assert.deepEqual(
  lines.map(({ line }) => line),
  [432_099, 432_100, 432_101],
)
assert.deepEqual((await artifact.tail(1)).length, 1)
// #endregion artifact

const sent = Math.max(...requests.map((request) => request.length))
assert.ok(sent < 20_000, `${sent} characters`)
console.log(`${artifact.byteLength()} bytes of log, ${sent} characters in the largest request.`)
