import { Agent, run, setTracingDisabled, tool, Usage } from '@openai/agents'
import { ANSWER, DESCRIPTION, parameters, QUESTION, TOOL } from './scenario.mjs'

setTracingDisabled(true)

export async function loop(scenario) {
  const model = {
    async getResponse() {
      const calls = scenario.next().map(({ id, args }) => ({
        type: 'function_call',
        id: `fc_${id}`,
        callId: id,
        name: TOOL,
        status: 'completed',
        arguments: JSON.stringify(args),
      }))
      const answer = {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: ANSWER }],
      }
      return { usage: new Usage(), output: calls.length > 0 ? calls : [answer] }
    },
    getStreamedResponse() {
      throw new Error('not used')
    },
  }
  const execute = (args) => scenario.handler(args)
  const tools = [tool({ name: TOOL, description: DESCRIPTION, parameters, execute })]
  const agent = new Agent({ name: 'bench', instructions: 'Find the cause.', model, tools })
  const { finalOutput } = await run(agent, QUESTION, { maxTurns: scenario.steps + 2 })
  return finalOutput
}
