// Turns of Bobbin as UI message streams, with its defaults: memory store, memory spool, seals.
import OpenAI from 'openai'
import { Tool, TurnRunner } from '../../dist/index.js'
import { openaiChat } from '../../dist/providers/openai/index.js'
import { uiMessageResponse } from '../../dist/ui/index.js'
import { lookInput } from './look-input.mjs'

export function respond(baseURL, onDelta) {
  const client = new OpenAI({ apiKey: 'x', baseURL, maxRetries: 0 })
  const look = new Tool({
    name: 'look',
    description: 'Looks at a place.',
    inputSchema: lookInput,
    effect: 'read',
    handler: ({ at }) => `nothing at ${at}`,
  })
  const runner = new TurnRunner({ model: openaiChat({ client, model: 'm' }), tools: [look] })
  if (onDelta !== undefined) runner.on('message', ({ delta }) => onDelta(delta))
  return (conversation) => uiMessageResponse(runner.run({ conversation, message: 'go' }))
}
