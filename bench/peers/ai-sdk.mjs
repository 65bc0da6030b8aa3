// `ai` in its two lines: what differs between them is the version of the model's contract.
import { ANSWER, DESCRIPTION, parameters, QUESTION, TOOL } from './scenario.mjs'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

export function loopOf({ generateText, stepCountIs, tool }, specificationVersion) {
  return async (scenario) => {
    const model = {
      specificationVersion,
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
        return {
          content: isLast ? [{ type: 'text', text: ANSWER }] : calls,
          finishReason: { unified: isLast ? 'stop' : 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        }
      },
    }
    const execute = (args) => scenario.handler(args)
    const tools = {
      [TOOL]: tool({ description: DESCRIPTION, inputSchema: parameters, execute }),
    }
    const stopWhen = stepCountIs(scenario.steps + 2)
    const { text } = await generateText({ model, tools, stopWhen, prompt: QUESTION })
    return text
  }
}
