// An agent under test: no key, no network, and faults on demand. `bobbin-adk/testing` is the toolbox.
import assert from 'node:assert/strict'
import { memoryStore, Tool, TurnRunner } from 'bobbin-adk'
import { openaiChat } from 'bobbin-adk/openai'
import {
  eventRecorder,
  loopbackProvider,
  scriptedModel,
  storeConformance,
  toolTape,
} from 'bobbin-adk/testing'
import { wire } from 'bobbin-adk/wire'
import OpenAI from 'openai'
import { z } from 'zod'

/** @type {string[]} */
const paid = []
const pay = new Tool({
  name: 'pay',
  description: 'Pays an invoice.',
  inputSchema: z.object({ invoice: z.string() }),
  effect: 'idempotent',
  handler: ({ invoice }) => {
    paid.push(invoice)
    return `Paid ${invoice}.`
  },
})

// #region scripted
const model = scriptedModel([
  [{ thought: 'An invoice.' }, { call: 'pay', args: { invoice: 'B-2' } }],
  [{ text: 'Done.' }],
])
const scripted = new TurnRunner({ model, tools: [pay] })
const recorder = eventRecorder(scripted)
assert.equal((await scripted.run({ message: 'Pay invoice B-2.' })).text, 'Done.')
assert.deepEqual(
  recorder.of('toolCall').map(({ isComplete }) => isComplete),
  [false, true],
)
model.done()
// #endregion scripted

// #region tape
const script = () => scriptedModel([[{ call: 'pay', args: { invoice: 'C-3' } }], [{ text: 'Ok.' }]])
const tape = toolTape()
await new TurnRunner({ model: script(), tools: [pay], middleware: [tape.record] }).run({
  message: 'Pay invoice C-3.',
})
const kept = JSON.stringify(tape.calls) // a file beside the test

const replayed = toolTape({ calls: JSON.parse(kept) })
const rerun = new TurnRunner({ model: script(), tools: [pay], middleware: [replayed.replay] })
const { toolCalls } = await rerun.run({ message: 'Pay invoice C-3.' })
assert.equal(toolCalls[0]?.settlement, 'ok')
assert.equal(paid.filter((invoice) => invoice === 'C-3').length, 1) // paid once, not twice
replayed.done() // every call was on the tape, and every taped call was made
// #endregion tape
paid.length = 0

/** @param {object} delta @param {string | null} [finish_reason] */
const chunk = (delta, finish_reason = null) => ({ choices: [{ index: 0, delta, finish_reason }] })
const called = { name: 'pay', arguments: '{"invoice":"A-1"}' }
const asking = [
  chunk({ tool_calls: [{ index: 0, id: 'call_0', type: 'function', function: called }] }),
  chunk({}, 'tool_calls'),
]

// #region loopback
const server = await loopbackProvider({
  api: 'openai-chat',
  exchanges: [
    { events: asking, fault: { type: 'cut', at: 1 } }, // the stream ends before its last event
    { events: asking, chunkBytes: 7 }, // whole, in pieces of seven bytes
    { events: [chunk({ content: 'Paid.' }), chunk({}, 'stop')] },
  ],
  validate: wire('openai-chat').validate, // refuses what the provider would refuse
})
const client = new OpenAI({ apiKey: 'key', baseURL: server.url, maxRetries: 0 })
const runner = new TurnRunner({
  model: openaiChat({ client, model: 'any' }),
  tools: [pay],
  testing: { sleep: async () => {} }, // a retry does not wait in a test
})

const outcome = await runner.run({ message: 'Pay invoice A-1.' })
assert.equal(outcome.text, 'Paid.')
assert.deepEqual(paid, ['A-1']) // the call in the cut stream did not run
assert.equal(server.remaining, 0)
// #endregion loopback
await server.close()

// #region conformance
for (const { name, run } of storeConformance((options) => ({ store: memoryStore(options) }))) {
  await run() // in a test file: it(name, run)
  assert.ok(name)
}
// #endregion conformance

console.log(`Asked ${server.requests.length} times, paid once.`)
