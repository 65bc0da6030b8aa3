import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ANSWER, DESCRIPTION, parameters, QUESTION, TOOL } from './scenario.mjs'

class Scripted extends BaseChatModel {
  constructor(scenario) {
    super({})
    this.scenario = scenario
  }

  _llmType() {
    return 'scripted'
  }

  bindTools() {
    return this
  }

  async _generate() {
    const tool_calls = this.scenario
      .next()
      .map(({ id, args }) => ({ type: 'tool_call', id, name: TOOL, args }))
    const text = tool_calls.length > 0 ? '' : ANSWER
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] }
  }
}

export async function loop(scenario) {
  const readLog = tool((args) => scenario.handler(args), {
    name: TOOL,
    description: DESCRIPTION,
    schema: parameters,
  })
  const agent = createReactAgent({ llm: new Scripted(scenario), tools: [readLog] })
  const messages = [{ role: 'user', content: QUESTION }]
  const state = await agent.invoke({ messages }, { recursionLimit: scenario.steps * 2 + 5 })
  return state.messages.at(-1).content
}
