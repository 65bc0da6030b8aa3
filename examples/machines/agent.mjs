// The agent that every worker runs. Rules stand in for a model, so that it needs no key.
import { Tool } from 'bobbin-adk'
import { z } from 'zod'

const charge = new Tool({
  name: 'charge',
  description: 'Charges a card.',
  inputSchema: z.object({ cents: z.number() }),
  effect: 'write',
  trust: 'developer',
  async handler({ cents }) {
    console.log('charging')
    await new Promise((resolve) => setTimeout(resolve, Number(process.env['CHARGE_MS'] ?? 1000)))
    return `charged ${cents} cents`
  },
})

/** @type {import('bobbin-adk').Executor} */
const rules = async ({ items }) => {
  const at = items.findLastIndex((item) => item.type === 'message' && item.role === 'user')
  const isDone = items.slice(at).some((item) => item.type === 'call')
  return isDone ? { answer: 'Done.' } : { calls: [{ tool: 'charge', args: { cents: 500 } }] }
}

export const agent = { executor: rules, tools: [charge] }
