// The order desk of a shop: tools over made-up orders, and the model that decides about them.
import { inputRequired, linkRequired, Tool } from 'bobbin-adk'
import { z } from 'zod'
import { offlineModel } from './offline-model.mjs'

export const instructions =
  'You are the order desk of a shop that sells lamps. Look orders and stock up before you answer. Refund only what the customer asks for. Answer in a few sentences.'

const pause = (/** @type {number} */ ms, /** @type {AbortSignal} */ signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

/** @param {{ stepMs: number }} speed */
export function chatTools({ stepMs }) {
  const findOrders = new Tool({
    name: 'find_orders',
    description: 'Finds the orders of a customer, page by page.',
    inputSchema: z.object({ customer: z.string(), pages: z.number().int().max(100).default(5) }),
    effect: 'read',
    handler: async ({ customer, pages }, { progress, signal }) => {
      for (let page = 1; page <= pages; page++) {
        progress({ done: page, of: pages })
        await pause(stepMs, signal)
      }
      const rows = Array.from({ length: pages * 40 }, (_, index) => {
        const number = 4000 + index
        return `${number},${customer},${index % 3 === 0 ? 'Brass lamp' : 'Desk lamp'},${20 + (index % 7) * 5}`
      })
      return ['order,customer,item,euros', ...rows].join('\n')
    },
  })
  const checkStock = new Tool({
    name: 'check_stock',
    description: 'Tells how many of an item are in stock.',
    inputSchema: z.object({ item: z.string() }),
    effect: 'read',
    handler: async ({ item }, { signal }) => {
      await pause(stepMs * 2, signal)
      if (item === 'Moon lamp') throw new Error('The shop has no item with this name.')
      return { item, inStock: item.length % 5, nextDelivery: 'Monday' }
    },
  })
  const refund = new Tool({
    name: 'refund',
    description: 'Pays money back for an order.',
    inputSchema: z.object({ order: z.number(), euros: z.number().positive(), note: z.string() }),
    effect: 'write',
    approval: true,
    handler: ({ order, euros, note }, { idempotencyKey }) => {
      // A real shop passes the key on to the bank, so that no refund is paid twice.
      return { order, euros, note, receipt: idempotencyKey.slice(0, 8) }
    },
  })
  const slot = /** @type {const} */ ({
    type: 'object',
    properties: {
      day: { enum: ['Monday', 'Tuesday'], description: 'Which day?' },
      hour: { type: 'integer', minimum: 8, maximum: 18, description: 'Which hour?' },
    },
    required: ['day', 'hour'],
    additionalProperties: false,
  })
  const bookPickup = new Tool({
    name: 'book_pickup',
    description: 'Books a time at which a parcel is collected. It asks the customer for the time.',
    inputSchema: z.object({ order: z.number() }),
    effect: 'idempotent',
    handler: ({ order }, { input }) => {
      if (input === undefined) return inputRequired({ message: 'When are you in?', schema: slot })
      const url = 'https://carrier.example/sign-in'
      if (!('done' in input)) return linkRequired({ message: 'Sign in.', url, state: input.value })
      return { order, ...Object(input.state) }
    },
  })
  return [findOrders, checkStock, refund, bookPickup]
}

/**
 * A real model if a key is set, and a scripted one otherwise.
 *
 * @param {{ wordMs: number }} speed
 * @returns {Promise<import('bobbin-adk').Model>}
 */
export async function chatModel({ wordMs }) {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, CHAT_MODEL } = process.env
  if (ANTHROPIC_API_KEY) {
    const { default: Anthropic } = await import('@anthropic-ai/sdk')
    const { anthropicMessages } = await import('bobbin-adk/anthropic')
    const model = CHAT_MODEL ?? 'claude-sonnet-4-5'
    return anthropicMessages({ client: new Anthropic(), model })
  }
  if (OPENAI_API_KEY) {
    const { default: OpenAI } = await import('openai')
    const { openaiResponses } = await import('bobbin-adk/openai')
    return openaiResponses({ client: new OpenAI(), model: CHAT_MODEL ?? 'gpt-5.4' })
  }
  return offlineModel({ wordMs })
}
