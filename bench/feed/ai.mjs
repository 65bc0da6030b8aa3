// The same turns with `streamText` of `ai`, its provider for OpenAI, and its UI message stream.
import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema, stepCountIs, streamText, tool } from 'ai'
import { lookInput } from './look-input.mjs'

export function respond(baseURL) {
  const model = createOpenAI({ apiKey: 'x', baseURL }).chat('m')
  const look = tool({
    description: 'Looks at a place.',
    inputSchema: jsonSchema(lookInput),
    execute: ({ at }) => `nothing at ${at}`,
  })
  return () =>
    streamText({
      model,
      messages: [{ role: 'user', content: 'go' }],
      tools: { look },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    }).toUIMessageStreamResponse()
}
