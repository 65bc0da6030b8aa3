// An agent file whose tools say when they begin, and end only if a file says so. For a server that is killed in between.
import { appendFileSync, existsSync } from 'node:fs'
import { Tool } from 'bobbin-adk'

const { EFFECTS = '', MAY_END = '' } = process.env

/** @param {string} name @param {'read' | 'write'} effect */
const tool = (name, effect) =>
  new Tool({
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object' },
    effect,
    handler: async () => {
      appendFileSync(EFFECTS, `${name}\n`)
      for (let times = 0; times < 200 && !existsSync(MAY_END); times += 1) {
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return `${name} is done`
    },
  })

export const tools = [tool('look', 'read'), tool('pay', 'write')]
