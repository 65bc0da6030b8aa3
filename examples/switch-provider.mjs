// One conversation, two providers and back: every id and signature returns to where it came from.
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import { memoryStore, Tool, TurnRunner } from 'bobbin-adk'
import { anthropicMessages } from 'bobbin-adk/anthropic'
import { openaiResponses } from 'bobbin-adk/openai'
import { loopbackProvider } from 'bobbin-adk/testing'
import { wire } from 'bobbin-adk/wire'
import OpenAI from 'openai'
import { z } from 'zod'

const signed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed==' }
const asked = { type: 'function_call', call_id: 'call_1', name: 'weather' }
const call = { ...asked, arguments: '{"city":"Oslo"}' }
/** @param {string} text */
const said = (text) => ({
  ...{ type: 'message', id: `msg_${text.length}`, role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
})
/** @param {object[]} output */
const response = (...output) => ({ body: { id: 'resp_1', object: 'response', output } })
const reply = { id: 'msg_a', type: 'message', role: 'assistant', stop_reason: 'end_turn' }
const usage = { input_tokens: 1, output_tokens: 1 }

// Servers on this machine that play answers and hold every request to the provider's rules.
const openaiServer = await loopbackProvider({
  api: 'openai-responses',
  exchanges: [response(signed, call), response(said('4 °C.')), response(said('Still 4 °C.'))],
  validate: wire('openai-responses').validate,
})
const anthropicServer = await loopbackProvider({
  api: 'anthropic-messages',
  exchanges: [{ body: { ...reply, content: [{ type: 'text', text: 'A coat.' }], usage } }],
  validate: wire('anthropic-messages').validate,
})

// #region models
const openai = openaiResponses({
  client: new OpenAI({ apiKey: 'key', baseURL: openaiServer.url }),
  model: 'gpt-5.4',
  streaming: false,
})
const anthropic = anthropicMessages({
  client: new Anthropic({ apiKey: 'key', baseURL: anthropicServer.url }),
  model: 'claude-sonnet-4-6',
  streaming: false,
})
// #endregion models

const weather = new Tool({
  name: 'weather',
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  effect: 'read',
  handler: ({ city }) => `${city}: 4 °C`,
})

// #region switch
const store = memoryStore()
/** @param {import('bobbin-adk').Model} model @param {string} message */
const ask = (model, message) =>
  new TurnRunner({ model, tools: [weather], store }).run({ conversation: 'trip', message })

assert.equal((await ask(openai, 'How warm is Oslo?')).text, '4 °C.')
assert.equal((await ask(anthropic, 'What should I wear?')).text, 'A coat.')
assert.equal((await ask(openai, 'And now?')).text, 'Still 4 °C.')
// #endregion switch

// Anthropic got the call as one of its own, and no bytes that only OpenAI can read.
const toAnthropic = JSON.stringify(anthropicServer.requests[0]?.body)
assert.match(toAnthropic, /"type":"tool_use","id":"call_1"/)
assert.doesNotMatch(toAnthropic, /sealed==/)
// OpenAI got its own items back as they were: reasoning with its signature, then the call.
const [, , last] = openaiServer.requests
const { input } = /** @type {{ input: { type: string }[] }} */ (last?.body ?? {})
assert.deepEqual(
  input.filter(({ type }) => type === 'reasoning' || type === 'function_call'),
  [signed, call],
)
await Promise.all([openaiServer.close(), anthropicServer.close()])
console.log('One conversation on two providers: ids and signatures are intact.')
