// The program of the README, and below it what it must come to.
import assert from 'node:assert/strict'
// #region program
import { Tool, TurnRunner } from 'bobbin-adk'
import { z } from 'zod'

const readLog = new Tool({
  name: 'read_log',
  description: 'Reads the log of a service.',
  inputSchema: z.object({ service: z.string() }),
  effect: 'read',
  inline: false, // 2 MB: the executor gets a handle and artifact_* tools instead
  handler: ({ service }) => `${service} is well\n`.repeat(100_000).concat('out of memory'),
})
const runner = new TurnRunner({
  tools: [readLog],
  executor: async ({ turnToolCalls: [log, found] }) => {
    const args = log ? { callId: log.id, pattern: 'memory' } : { service: 'checkout' }
    if (!found) return { calls: [{ tool: log ? 'artifact_grep' : 'read_log', args }] }
    return { answer: JSON.stringify(found.results) }
  },
})
const { text, toolCalls } = await runner.run({ message: 'Why did checkout fail?' })
for (const { tool, settlement, digest } of toolCalls) console.log(tool, settlement, digest, text)
// #endregion program

assert.equal(text, '"100000: out of memory"')
assert.deepEqual(
  toolCalls.map(({ tool, settlement, inline }) => [tool, settlement, inline]),
  [
    ['read_log', 'ok', false],
    ['artifact_grep', 'ok', true],
  ],
)
