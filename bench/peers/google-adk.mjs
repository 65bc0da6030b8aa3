import { BaseLlm, FunctionTool, InMemoryRunner, LlmAgent, LogLevel, setLogLevel } from '@google/adk'
import { ANSWER, DESCRIPTION, parameters, QUESTION, TOOL } from './scenario.mjs'

setLogLevel(LogLevel.ERROR)

class Scripted extends BaseLlm {
  constructor(scenario) {
    super({ model: 'scripted' })
    this.scenario = scenario
  }

  async *generateContentAsync() {
    const parts = this.scenario
      .next()
      .map(({ id, args }) => ({ functionCall: { id, name: TOOL, args } }))
    yield { content: { role: 'model', parts: parts.length > 0 ? parts : [{ text: ANSWER }] } }
  }
}

export async function loop(scenario) {
  const execute = (args) => scenario.handler(args)
  const agent = new LlmAgent({
    name: 'bench',
    model: new Scripted(scenario),
    tools: [new FunctionTool({ name: TOOL, description: DESCRIPTION, parameters, execute })],
  })
  const runner = new InMemoryRunner({ agent })
  const newMessage = { role: 'user', parts: [{ text: QUESTION }] }
  const runConfig = { maxLlmCalls: scenario.steps + 2 }
  let answer
  for await (const event of runner.runEphemeral({ userId: 'bench', newMessage, runConfig })) {
    answer = event.content?.parts?.at(-1)?.text ?? answer
  }
  return answer
}
