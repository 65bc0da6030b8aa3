// A tool, one call of it, and the settled record that the call becomes.
// #region tool
import { memorySpool, SpooledArtifact, Tool, ToolCall } from 'bobbin-adk'
import { z } from 'zod'

const readLog = new Tool({
  name: 'read_log',
  description: 'Reads the log of a service.',
  inputSchema: z.object({ service: z.string(), lines: z.number().default(3) }),
  effect: 'read',
  handler: ({ service, lines }) =>
    Array.from({ length: lines }, (_, n) => `${service} line ${n + 1}: all well`).join('\n'),
})
// #endregion tool

// #region call
// A model would ask like this: a name, an id, and arguments as JSON text.
const asked = { id: 'call_7f3a', tool: readLog.name, args: '{"service":"checkout"}' }
const createdAt = Date.now()

const run = readLog.executor({
  toolCallId: asked.id,
  emit: (event) => console.log(`${event.type} ${event.callId.slice(0, 12)}…`),
})
const spool = memorySpool()
const output = /** @type {string} */ (await run(asked.args))
const call = new ToolCall({
  ...asked,
  results: new SpooledArtifact(await spool.write(output)),
  isComplete: true,
  isError: false,
  createdAt,
  completedAt: Date.now(),
})
// #endregion call

console.log(JSON.stringify(call, null, 2))
console.log(`checksum of tool and arguments  ${call.checksum}`)
console.log(`digest of the whole record      ${call.digest}`)
console.log(`frozen: ${Object.isFrozen(call)}, its arguments too: ${Object.isFrozen(call.args)}`)

// The bytes stay on the spool; the record finds them again after a trip through JSON.
const restored = ToolCall.fromJSON(JSON.parse(JSON.stringify(call)), { spool })
console.log(
  `restored from JSON: ${restored.digest === call.digest ? 'the same record' : 'ALTERED'}`,
)
