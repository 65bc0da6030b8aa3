import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'

setTracingDisabled(true)

/** One streamed turn over the chat protocol, with one tool. */
export async function payWithAgents(baseURL, pay) {
  const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
  const payTool = tool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    execute: async ({ amount }) => pay(amount),
  })
  const model = new OpenAIChatCompletionsModel(client, 'm')
  const agent = new Agent({ name: 'bench', instructions: 'Pay.', model, tools: [payTool] })
  const result = await run(agent, 'Pay.', { stream: true, maxTurns: 3 })
  for await (const _ of result);
  await result.completed
}
