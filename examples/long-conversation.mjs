// A conversation that outgrows its requests: a summary takes the place of the oldest turns, and nothing is lost.
import assert from 'node:assert/strict'
import { memoryStore, modelSummary, Tool, TurnRunner } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'
import { z } from 'zod'

const readLog = new Tool({
  name: 'read_log',
  description: 'Reads the log of a service.',
  inputSchema: z.object({ service: z.string() }),
  effect: 'read',
  inline: false,
  handler: ({ service }) =>
    `${service} started\n${'ok\n'.repeat(2_000)}${service} ran out of memory`,
})

// Both models are scripted, so that this runs without a key. The second one writes the summaries.
const model = scriptedModel([
  [{ call: 'read_log', args: { service: 'billing' }, id: 'call-1' }],
  [{ call: 'artifact_tail', args: { callId: 'call-1', lines: 1 } }],
  [{ text: 'billing ran out of memory. '.repeat(40) }],
  [{ text: 'The deploy of Friday raised the cache. '.repeat(40) }],
  [{ text: 'Nobody has looked into it. '.repeat(40) }],
  [{ call: 'artifact_head', args: { callId: 'call-1', lines: 1 } }],
  [{ text: 'Its first line is "billing started".' }],
])
const summariser = scriptedModel([
  [
    {
      text: 'billing ran out of memory (its log is the result of call-1). The deploy of Friday raised the cache.',
    },
  ],
])

const store = memoryStore()
// #region compact
const runner = new TurnRunner({
  model,
  store,
  tools: [readLog],
  budget: { maxTokens: 100_000 },
  compact: {
    at: 2_000, // tokens of a request; in earnest, a share of the model's window
    keepTurns: 2,
    summarise: modelSummary(summariser), // a small and cheap model will do
  },
})
// #endregion compact

const conversation = 'incident-42'
for (const message of [
  'Why did billing stop?',
  'What changed before that?',
  'Who works on it?',
  'How did the log begin?',
]) {
  const { status, text } = await runner.run({ conversation, message })
  assert.equal(status, 'completed')
  console.log(`${message} ${text.slice(0, 60)}`)
}

// #region entry
for await (const { kind, data } of store.entries(conversation)) {
  if (kind !== 'summary') continue
  assert.deepEqual(data.calls, ['call-1']) // artifact tools still read its result
  assert.equal(data.trust, 'third-party') // the lowest trust of what it covers
}
// #endregion entry

// The last request: the summary in an envelope, the newest turns, and a result that the summary only names.
const last = JSON.stringify(model.requests.at(-1)?.items)
assert.match(last, /role=\\"summary\\" trust=\\"third-party\\"/)
assert.doesNotMatch(last, /Why did billing stop/)
assert.match(last, /billing started/)

// #region history
const { items } = await store.history({ conversation })
assert.match(JSON.stringify(items[0]), /Why did billing stop/) // people still see everything
// #endregion history
