// A model behind Amazon's client; the server is one on this machine, which speaks the binary framing.
import assert from 'node:assert/strict'
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime'
import { TurnRunner } from 'bobbin-adk'
import { bedrockConverse } from 'bobbin-adk/bedrock'
import { loopbackProvider } from 'bobbin-adk/testing'
import { wire } from 'bobbin-adk/wire'

const server = await loopbackProvider({
  api: 'bedrock-converse',
  exchanges: [
    {
      events: [
        { messageStart: { role: 'assistant' } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Rain, ' } } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'says the forecast.' } } },
        { contentBlockStop: { contentBlockIndex: 0 } },
        { messageStop: { stopReason: 'end_turn' } },
      ],
    },
  ],
  validate: wire('bedrock-converse').validate,
})
const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
const settings = { region: 'eu-central-1', endpoint: server.url, credentials }

// #region model
const model = bedrockConverse({
  client: new BedrockRuntimeClient(settings), // { region: 'eu-central-1' }
  model: 'eu.anthropic.claude-sonnet-4-6-v1:0',
  params: { inferenceConfig: { maxTokens: 4096 } },
})
// #endregion model

const { text } = await new TurnRunner({ model }).run({ message: 'Will it rain?' })
assert.equal(text, 'Rain, says the forecast.')
assert.match(JSON.stringify(server.requests[0]?.body), /"maxTokens":4096/)
await server.close()
console.log('Bedrock: one turn through the official client.')
