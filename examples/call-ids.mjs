// Where the id of a call comes from, and how it travels between providers.
import assert from 'node:assert/strict'
import { wire } from 'bobbin-adk/wire'

// #region origins
const codec = wire('foundry', { secret: new Uint8Array(32) })
const { calls } = codec.decode([
  { type: 'function_call', call_id: 'call_1', name: 'search', arguments: '{}' },
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
  { type: 'memory_search_call', results: [] },
])
const origins = calls.map((call) => call.wire.origin)
assert.deepEqual(origins, ['natural', 'conflated', 'synthetic'])
// #endregion origins
assert.match(calls[2]?.id ?? '', /^bob_.{22}$/)

// #region travel
const asked = { type: 'function_call', call_id: 'call_1', name: 'search', arguments: '{}' }
const answered = { type: 'function_call_output', call_id: 'call_1', output: 'found' }

const { items } = wire('openai-responses').decode([asked, answered])
assert.deepEqual(wire('openai-responses').encode(items), { input: [asked, answered] }) // as it came

const elsewhere = wire('anthropic-messages')
assert.deepEqual(elsewhere.validate(elsewhere.encode(items)), []) // a pair of its own, valid there
// #endregion travel

console.log(`Origins of ids: ${origins.join(', ')}.`)
