import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { ANSWER, DESCRIPTION, parameters, QUESTION, TOOL } from './scenario.mjs'

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }

export async function loop(scenario) {
  const model = {
    specificationVersion: 'v2',
    provider: 'bench',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate() {
      const calls = scenario.next().map(({ id, args }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: TOOL,
        input: JSON.stringify(args),
      }))
      const isLast = calls.length === 0
      const content = isLast ? [{ type: 'text', text: ANSWER }] : calls
      return { content, finishReason: isLast ? 'stop' : 'tool-calls', usage, warnings: [] }
    },
    doStream() {
      throw new Error('not used')
    },
  }
  const readLog = createTool({
    id: TOOL,
    description: DESCRIPTION,
    inputSchema: parameters,
    execute: async (input) => scenario.handler(input.context ?? input),
  })
  const agent = new Agent({
    id: 'bench',
    name: 'bench',
    instructions: 'Find the cause.',
    model,
    tools: { [TOOL]: readLog },
  })
  const { text } = await agent.generate(QUESTION, { maxSteps: scenario.steps + 2 })
  return text
}
