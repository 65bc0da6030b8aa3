// A model behind Google's client, and one with a key alone; the server is one on this machine, which plays a recorded answer.
import assert from 'node:assert/strict'
import { GoogleGenAI } from '@google/genai'
import { TurnRunner } from 'bobbin-adk'
import { gemini } from 'bobbin-adk/gemini'
import { loopbackProvider } from 'bobbin-adk/testing'
import { wire } from 'bobbin-adk/wire'

const content = { role: 'model', parts: [{ text: 'Rain, says the forecast.' }] }
const answer = { events: [{ candidates: [{ content, finishReason: 'STOP' }] }] }
const server = await loopbackProvider({
  api: 'gemini',
  exchanges: [answer, answer],
  validate: wire('gemini').validate,
})
const settings = { apiKey: 'key', httpOptions: { baseUrl: server.url } }

// #region model
const model = gemini({
  client: new GoogleGenAI(settings), // { apiKey: process.env.GEMINI_API_KEY }
  model: 'gemini-3-pro-preview',
  hostedTools: [{ googleSearch: {} }],
  params: { toolConfig: { includeServerSideToolInvocations: true } },
})
// #endregion model

const { text } = await new TurnRunner({ model }).run({ message: 'Will it rain?' })
assert.equal(text, 'Rain, says the forecast.')
assert.match(JSON.stringify(server.requests[0]?.body), /"googleSearch":\{\}/)

// #region key
const direct = gemini({
  apiKey: 'key', // process.env.GEMINI_API_KEY
  model: 'gemini-3-pro-preview',
  baseUrl: server.url, // Google's own when absent
})
// #endregion key
const again = await new TurnRunner({ model: direct }).run({ message: 'Will it rain?' })
assert.equal(again.text, text)
await server.close()
console.log('Gemini: one turn through the official client, and one without it.')
