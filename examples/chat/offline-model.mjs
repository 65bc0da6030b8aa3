// A model without a network: it reads the last question, and says and asks what its rules say, word by word.

/** @typedef {import('bobbin-adk').Model} Model */
/** @typedef {Parameters<Model['stream']>[0]['items'][number]} Item */
/** @typedef {{ thought?: string, text?: string, calls?: { tool: string, args: Record<string, unknown> }[] }} Step */

/** What the model says in each round, by what the question is about. @type {readonly [RegExp, readonly Step[]][]} */
const RULES = [
  [
    /refund/i,
    [
      {
        thought: 'The customer wants money back. I look the order up before I refund anything.',
        text: 'I look up the orders and the stock.',
        calls: [
          { tool: 'find_orders', args: { customer: 'Ann' } },
          { tool: 'check_stock', args: { item: 'Brass lamp' } },
        ],
      },
      {
        text: 'Order 4003 arrived broken, and a brass lamp costs 35 euros. I need your approval for the refund.',
        calls: [{ tool: 'refund', args: { order: 4003, euros: 35, note: 'Arrived broken' } }],
      },
      { text: 'The refund is settled. A new lamp can be delivered on Monday.' },
    ],
  ],
  [
    /all orders/i,
    [
      {
        text: 'There are many pages.',
        calls: [{ tool: 'find_orders', args: { customer: 'Ann', pages: 60 } }],
      },
      { text: 'I have read all of them.' },
    ],
  ],
  [
    /collect/i,
    [
      { text: 'I book that.', calls: [{ tool: 'book_pickup', args: { order: 4003 } }] },
      { text: 'The parcel will be collected.' },
    ],
  ],
  [
    /moon/i,
    [
      { text: 'I check.', calls: [{ tool: 'check_stock', args: { item: 'Moon lamp' } }] },
      { text: 'There is no moon lamp in the shop.' },
    ],
  ],
]

/** @type {readonly Step[]} */
const HELLO = [
  {
    thought: 'A greeting, or something that I have no rule for.',
    text: 'Hello! I am the order desk, and without a key I am a script. Ask me to refund a broken lamp, to read all orders of a customer, or for a moon lamp.',
  },
]

/**
 * @param {{ wordMs: number }} speed
 * @returns {Model}
 */
export function offlineModel({ wordMs }) {
  return {
    api: 'offline',
    provider: 'example',
    model: 'order-desk',
    async *stream({ items }, { signal, mint } = {}) {
      const step = stepFor(items)
      /** @type {Item[]} */
      const said = []
      for (const type of /** @type {const} */ (['thought', 'text'])) {
        const text = step[type]
        if (text === undefined) continue
        for (const delta of text.split(/(?<= )/)) {
          await new Promise((resolve) => setTimeout(resolve, wordMs))
          signal?.throwIfAborted()
          yield { type, key: type, delta }
        }
        if (type === 'thought') said.push({ type, text })
        else said.push({ type: 'message', role: 'assistant', parts: [{ type, text }] })
      }
      for (const [ordinal, { tool, args }] of (step.calls ?? []).entries()) {
        const content = JSON.stringify(args)
        for (const delta of content.split(/(?<=,)/)) {
          await new Promise((resolve) => setTimeout(resolve, wordMs))
          signal?.throwIfAborted()
          yield { type: 'toolInput', key: `call ${ordinal}`, tool, delta }
        }
        const id = mint?.({ ordinal, wireType: 'call', content: `${tool} ${content}` }) ?? tool
        const wire = { provider: 'example', api: 'offline', type: 'call', origin: 'synthetic' }
        said.push(
          /** @type {Item} */ ({ type: 'call', id, tool, args, wire, executedBy: 'runner' }),
        )
      }
      const reason = step.calls === undefined ? 'stop' : 'tools'
      yield { type: 'finish', reason, items: said, unfinished: [] }
    },
  }
}

/** The round after those that the history shows since the last question. @param {readonly Item[]} items */
function stepFor(items) {
  const at = items.findLastIndex((item) => item.type === 'message' && item.role === 'user')
  const asked = items[at]
  const question =
    asked?.type === 'message'
      ? asked.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
      : ''
  const rounds = new Set(
    items.slice(at + 1).flatMap((item) => (item.type === 'call' ? [item.response ?? item.id] : [])),
  )
  const steps = RULES.find(([about]) => about.test(question))?.[1] ?? HELLO
  return steps[Math.min(rounds.size, steps.length - 1)] ?? {}
}
