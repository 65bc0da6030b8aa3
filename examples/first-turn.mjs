import { Tool, TurnRunner } from 'bobbin-adk'
import { z } from 'zod'

const readLog = new Tool({
  name: 'read_log',
  description: 'Reads the log of a service.',
  inputSchema: z.object({ service: z.string() }),
  effect: 'read',
  inline: false, // the model gets a handle and artifact_* tools
  handler: ({ service }) =>
    Array.from(
      { length: 200_000 },
      (_, n) => `${service} ${n === 123_456 ? 'OUT OF MEMORY' : 'ok'}`,
    ).join('\n'),
})

// #region runner
// An executor decides, the runner acts. Usually it is a model; here it is three rules.
const runner = new TurnRunner({
  tools: [readLog],
  executor: async ({ iteration, turnToolCalls: [log], items }) => {
    if (iteration === 1) return { calls: [{ tool: 'read_log', args: { service: 'checkout' } }] }
    if (iteration === 2)
      return {
        calls: [{ tool: 'artifact_grep', args: { callId: log?.id ?? '', pattern: 'MEMORY' } }],
      }
    return {
      answer: JSON.stringify(items.at(-1)).includes('OUT OF MEMORY') ? 'Memory.' : 'No idea.',
    }
  },
})
runner.on('toolCall', (call) => console.log(call.tool, call.isComplete ? 'settled' : 'asked'))

const outcome = await runner.run({ message: 'Why did checkout fail at noon?' })
console.log(outcome.status, '·', outcome.text)
for (const call of outcome.toolCalls)
  console.log(call.tool, call.settlement, call.checksum.slice(0, 12), call.digest.slice(0, 12))
// #endregion runner
