import { chat, maxIterations, toolDefinition } from '@tanstack/ai'
import { ANSWER, DESCRIPTION, parameters, QUESTION, TOOL } from './scenario.mjs'

export async function loop(scenario) {
  const adapter = {
    kind: 'text',
    name: 'bench',
    model: 'scripted',
    async *chatStream({ threadId = 'thread', runId = 'run' }) {
      const timestamp = Date.now()
      yield { type: 'RUN_STARTED', threadId, runId, timestamp }
      const calls = scenario.next()
      for (const { id, args } of calls) {
        const toolCallId = id
        yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: TOOL, timestamp }
        yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args), timestamp }
        yield { type: 'TOOL_CALL_END', toolCallId, timestamp }
      }
      if (calls.length === 0) {
        const messageId = 'message'
        yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', timestamp }
        yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: ANSWER, timestamp }
        yield { type: 'TEXT_MESSAGE_END', messageId, timestamp }
      }
      const finishReason = calls.length > 0 ? 'tool_calls' : 'stop'
      yield { type: 'RUN_FINISHED', threadId, runId, finishReason, timestamp }
    },
    structuredOutput() {
      throw new Error('not used')
    },
  }
  const definition = toolDefinition({
    name: TOOL,
    description: DESCRIPTION,
    inputSchema: parameters,
  })
  return chat({
    adapter,
    messages: [{ role: 'user', content: QUESTION }],
    tools: [definition.server((args) => scenario.handler(args))],
    agentLoopStrategy: maxIterations(scenario.steps + 2),
    stream: false,
  })
}
