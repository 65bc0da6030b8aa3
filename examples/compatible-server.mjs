// A server that speaks Chat Completions with rules of its own: Mistral takes ids of 9 letters and digits only.
import assert from 'node:assert/strict'
import { memoryStore, Tool, TurnRunner } from 'bobbin-adk'
import { openaiChat } from 'bobbin-adk/openai'
import { loopbackProvider, scriptedModel } from 'bobbin-adk/testing'
import OpenAI from 'openai'

const weather = new Tool({
  name: 'weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object' },
  effect: 'read',
  handler: () => 'snow',
})
const server = await loopbackProvider({
  api: 'openai-chat',
  exchanges: [
    {
      body: {
        choices: [{ message: { role: 'assistant', content: 'Snow.' }, finish_reason: 'stop' }],
      },
    },
  ],
})

// #region server
const model = openaiChat({
  client: new OpenAI({ apiKey: 'key', baseURL: server.url }), // https://api.mistral.ai/v1 needs no `server`
  model: 'mistral-large-latest',
  server: 'mistral',
  streaming: false,
})
// #endregion server

// The conversation begins on another model, whose ids Mistral would refuse.
const store = memoryStore()
const other = scriptedModel([[{ call: 'weather', args: {} }], [{ text: 'It snows.' }]])
const ask = (/** @type {import('bobbin-adk').Model} */ asked, /** @type {string} */ message) =>
  new TurnRunner({ model: asked, tools: [weather], store }).run({ conversation: 'trip', message })
await ask(other, 'How is Oslo?')
assert.equal((await ask(model, 'Once more?')).text, 'Snow.')

const body = /** @type {{ messages: { tool_call_id?: string }[] }} */ (server.requests[0]?.body)
const ids = body.messages.flatMap(({ tool_call_id: id }) => id ?? [])
assert.match(ids.join(), /^[a-zA-Z0-9]{9}$/)
await server.close()
console.log('Mistral got the id', ids[0])
