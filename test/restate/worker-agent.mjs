// The agent of the worker processes: what it does follows from the message.
import { subAgent, Tool } from 'bobbin-adk'
import { z } from 'zod'

const effects = process.env['EFFECTS_URL'] ?? ''
/** @param {string} what @param {string} key */
const tell = (what, key) =>
  fetch(`${effects}/${what}/${key}`, { method: 'POST', headers: { 'x-process': `${process.pid}` } })

const charge = new Tool({
  name: 'charge',
  description: 'Charges once.',
  inputSchema: z.object({ key: z.string(), ms: z.number() }),
  effect: 'write',
  trust: 'developer',
  async handler({ key, ms }) {
    await tell('charge', key)
    await new Promise((resolve) => setTimeout(resolve, ms))
    return `charged ${key} `.repeat(ms > 200 ? 20_000 : 1)
  },
  async undo({ args }) {
    await tell('refund', typeof args['key'] === 'string' ? args['key'] : '')
    return 'refunded'
  },
})
const look = new Tool({
  name: 'look',
  description: 'Looks, as often as needed.',
  inputSchema: z.object({ key: z.string() }),
  effect: 'read',
  trust: 'developer',
  async handler({ key }) {
    await tell('look', key)
    return `seen ${key}`
  },
})
const pay = new Tool({
  name: 'pay',
  description: process.env['PAY_DESCRIPTION'] ?? 'Pays after an approval.',
  inputSchema: z.object({ key: z.string() }),
  effect: 'write',
  trust: 'developer',
  approval: true,
  async handler({ key }) {
    await tell('pay', key)
    return `paid ${key}`
  },
})

const sign = new Tool({
  name: 'sign',
  description: 'A person signs, within a moment.',
  inputSchema: z.object({ key: z.string() }),
  effect: 'read',
  trust: 'developer',
  external: true,
  timeoutMs: 1500,
})

/**
 * Does what the last message says, once: the history tells what was done, also in a process that died.
 *
 * @type {import('bobbin-adk').Executor}
 */
const rules = async ({ items }) => {
  const at = items.findLastIndex((item) => item.type === 'message' && item.role === 'user')
  const message = items[at]
  const parts = message?.type === 'message' ? message.parts : []
  const text = parts.map((part) => ('text' in part ? part.text : '')).join('')
  const [, what = '', key = '', ms = '0'] =
    /(charge|look|pay|nest|both|sign) ([\w-]+)(?: (\d+))?/.exec(text) ?? []
  const made = items.slice(at).filter((item) => item.type === 'call')
  if (made.length > 0 || what === '') return { answer: `${what} ${key}` }
  const timed = { key, ms: Number(ms) }
  if (what === 'nest') return { calls: [{ tool: 'helper', args: { task: `pay ${key}` } }] }
  if (what === 'charge') return { calls: [{ tool: 'charge', args: timed }] }
  const looking = { tool: 'look', args: { key } }
  if (what === 'both') return { calls: [looking, { tool: 'charge', args: timed }] }
  return { calls: [{ tool: what, args: { key } }] }
}

const helper = subAgent({
  name: 'helper',
  description: 'Does what it is told.',
  agent: { executor: rules, tools: [pay] },
  trust: 'developer',
})

export const agent = { executor: rules, tools: [charge, look, pay, sign, helper], leaseMs: 5000 }
