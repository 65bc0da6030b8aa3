// A model behind Gemini's Interactions API, with a key and no client; the server is one on this machine.
import assert from 'node:assert/strict'
import { TurnRunner } from 'bobbin-adk'
import { geminiInteractions } from 'bobbin-adk/gemini'
import { loopbackProvider } from 'bobbin-adk/testing'
import { wire } from 'bobbin-adk/wire'

const server = await loopbackProvider({
  api: 'gemini-interactions',
  exchanges: [
    {
      events: [
        { event_type: 'interaction.created', interaction: { id: '', status: 'in_progress' } },
        { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
        { event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'Rain, it seems.' } },
        { event_type: 'step.stop', index: 0 },
        { event_type: 'interaction.completed', interaction: { id: '', status: 'completed' } },
      ],
    },
  ],
  validate: wire('gemini-interactions').validate,
})
const settings = { apiKey: 'key', baseUrl: server.url }

// #region model
const model = geminiInteractions({
  ...settings, // { apiKey: process.env.GEMINI_API_KEY }
  model: 'gemini-3.8-flash',
  hostedTools: [{ type: 'google_search' }],
  params: { generation_config: { thinking_level: 'low' } },
})
// #endregion model

const { text } = await new TurnRunner({ model }).run({ message: 'Will it rain?' })
assert.equal(text, 'Rain, it seems.')
assert.match(JSON.stringify(server.requests[0]?.body), /"store":false/)
await server.close()
console.log('Gemini Interactions: one turn, read as bytes.')
