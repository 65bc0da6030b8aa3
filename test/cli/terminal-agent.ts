import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inRoot } from '../../scripts/project.mjs'

/**
 * An agent that does what the question says: `pay` asks for an approval, `wait` takes a minute and
 * can be stopped, `charge` takes a minute and cannot, `read` gives megabytes.
 */
const SOURCE = `import { Tool } from ${JSON.stringify(pathToFileURL(inRoot('dist', 'index.js')).href)}

const amounts = {
  type: 'object',
  properties: { amount: { type: 'number' } },
  required: ['amount'],
  additionalProperties: false,
}
const pay = new Tool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: amounts,
  effect: 'write',
  approval: true,
  handler: ({ amount }) => 'paid ' + amount,
})
const wait = new Tool({
  name: 'wait',
  description: 'Waits.',
  inputSchema: { type: 'object', properties: {} },
  effect: 'read',
  handler: async (_, { signal, progress }) => {
    for (let done = 0; done < 600; done++) {
      progress({ done, total: 600, unit: 'steps' })
      await new Promise((resolve) => setTimeout(resolve, 100))
      signal.throwIfAborted()
    }
    return 'waited'
  },
})

const charge = new Tool({
  name: 'charge',
  description: 'Charges.',
  inputSchema: { type: 'object', properties: {} },
  effect: 'write',
  handler: (_, { progress }) => {
    progress('under way')
    return new Promise((resolve) => setTimeout(() => resolve('charged'), 60_000))
  },
})

const read = new Tool({
  name: 'read',
  description: 'Reads.',
  inputSchema: { type: 'object', properties: {} },
  effect: 'read',
  inline: false,
  handler: () => 'a line\\n'.repeat(500_000),
})

export const tools = [pay, wait, charge, read]
export const executor = async ({ items, turnToolCalls }) => {
  const at = items.findLastIndex((item) => item.type === 'message' && item.role === 'user')
  const question = items[at].parts[0].text
  if (items.slice(at).some((item) => item.type === 'call')) {
    return { answer: 'That is ' + turnToolCalls.at(-1).settlement + '.' }
  }
  if (question === 'pay') return { calls: [{ tool: 'pay', args: { amount: 7 } }] }
  if (['wait', 'charge', 'read'].includes(question)) return { calls: [{ tool: question, args: {} }] }
  return { answer: 'You said ' + question + '.' }
}
`

/** Puts the agent into a folder, where \`bobbin\` finds it. */
export function writeTerminalAgent(folder: string): void {
  writeFileSync(join(folder, 'agent.mjs'), SOURCE)
}
