// A provider's protocol without a connection: read a history, find its faults, fix them.
import assert from 'node:assert/strict'
import { memoryStore, TurnRunner } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'
import { seed, wire } from 'bobbin-adk/wire'

// #region validate
const history = [
  { role: 'user', content: 'How warm is Oslo?' },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }],
  },
  { role: 'user', content: 'Never mind. And Rome?' }, // the call has no result
]
const anthropic = wire('anthropic-messages')
for (const { rule, path, prevents } of anthropic.validate({ messages: history })) {
  console.log(`${rule} at ${path}: ${prevents}`)
}
// #endregion validate
assert.equal(anthropic.validate({ messages: history }).length > 0, true)

// #region fix
/** @type {import('bobbin-adk/wire').Repair[]} */
const repairs = []
const { items } = anthropic.decode({ messages: history })
const repaired = anthropic.encode(items, { onRepair: (repair) => repairs.push(repair) })
assert.deepEqual(anthropic.validate(repaired), [])
assert.equal(repairs.length > 0, true)
// #endregion fix

// #region convert
const elsewhere = wire('openai-chat')
const converted = elsewhere.encode(items)
assert.deepEqual(elsewhere.validate(converted), [])
// #endregion convert
assert.match(JSON.stringify(converted), /"tool_call_id":"toolu_1"/)

// #region seed
const store = memoryStore()
const seeded = await seed(store, { api: 'anthropic-messages', payload: { messages: history } })
const model = scriptedModel([[{ text: '14 °C.' }]]) // any model: of this protocol or another
const runner = new TurnRunner({ store, model })
const { text } = await runner.run({ conversation: seeded.conversation, message: 'And Rome?' })
// #endregion seed
assert.equal(text, '14 °C.')
assert.deepEqual(
  seeded.repairs.map(({ kind }) => kind),
  ['missing-result'],
)

// #region stream
const { calls } = wire('openai-responses').decodeStream([
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'function_call', id: 'fc' },
  },
  { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"city":"Oslo"}' },
])
assert.deepEqual(calls, []) // cut before its end: arguments that happen to parse do not make a call
// #endregion stream

console.log(`${repairs.length} repair: ${repairs[0]?.message ?? ''}`)
