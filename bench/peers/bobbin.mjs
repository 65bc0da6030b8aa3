// Bobbin with its defaults: memory store, memory spool, repeat guard, envelopes, seals.
import { Tool, TurnRunner } from '../../dist/index.js'
import { ANSWER, DESCRIPTION, parameters, QUESTION, TOOL } from './scenario.mjs'

export async function loop(scenario) {
  const model = {
    api: 'bench',
    provider: 'bench',
    model: 'scripted',
    async *stream() {
      const items = scenario.next().map(({ id, args }) => ({
        type: 'call',
        id,
        tool: TOOL,
        args,
        wire: {
          provider: 'bench',
          api: 'bench',
          type: 'function_call',
          callId: id,
          origin: 'natural',
        },
        executedBy: 'runner',
      }))
      const answer = { type: 'message', role: 'assistant', parts: [{ type: 'text', text: ANSWER }] }
      yield items.length > 0
        ? { type: 'finish', reason: 'tools', items, unfinished: [] }
        : { type: 'finish', reason: 'stop', items: [answer], unfinished: [] }
    },
  }
  const tool = new Tool({
    name: TOOL,
    description: DESCRIPTION,
    inputSchema: parameters,
    effect: 'read',
    handler: (args) => scenario.handler(args),
  })
  const runner = new TurnRunner({
    model,
    tools: [tool],
    limits: { iterations: scenario.steps + 2, calls: scenario.steps * scenario.calls + 1 },
  })
  const outcome = await runner.run({ message: QUESTION })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome.reason))
  // What the turn holds is what stays in memory: the runner has the conversation and its records.
  scenario.keep?.({ runner, outcome })
  return outcome.text
}
