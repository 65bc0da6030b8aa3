// The short recipes of docs/recipes.md, each a region, most of them in one turn.
import assert from 'node:assert/strict'
import { ArgumentPreview, inlineBySize, Memory, Tool, TurnRunner } from 'bobbin-adk'
import { z } from 'zod'

/** @type {import('bobbin-adk').Executor} */
const publishing = async ({ turnToolCalls: [call] }) =>
  call ? { answer: call.settlement } : { calls: [publishingFor('everyone')] }
/** @param {string} audience */
const publishingFor = (audience) => ({ tool: 'publish', args: { audience } })
/** @type {import('bobbin-adk').Executor} */
const reading = async ({ memories }) => ({ answer: memories[0]?.content.text ?? 'Nothing.' })

// #region size
const search = new Tool({
  name: 'search',
  description: 'Searches the archive.',
  inputSchema: z.object({ words: z.string() }),
  effect: 'read',
  inline: inlineBySize({ tokens: 2_000 }), // shown as it is up to there, as a handle above
  handler: ({ words }) => `${words}\n`.repeat(10_000),
})
// #endregion size

// #region long
const reindex = new Tool({
  name: 'reindex',
  description: 'Builds the index anew.',
  inputSchema: z.object({ shards: z.number().int().max(100) }),
  effect: 'idempotent',
  timeoutMs: 600_000,
  handler: async ({ shards }, { progress, signal, secret, idempotencyKey }) => {
    const token = await secret('INDEX_TOKEN') // never an argument, so it is in no record
    for (let shard = 1; shard <= shards; shard++) {
      signal.throwIfAborted() // aborts at the time-out, and when the turn is aborted
      progress({ shard, of: shards })
    }
    return { shards, key: idempotencyKey, authorised: token !== '' }
  },
})
// #endregion long

// #region poll
const status = new Tool({
  name: 'index_status',
  description: 'Tells whether the index is ready. Ask as often as you like.',
  inputSchema: z.object({}),
  effect: 'read',
  repeat: false, // the guard against repeated calls leaves it alone
  handler: () => 'ready',
})
// #endregion poll

// #region approve
const publish = new Tool({
  name: 'publish',
  description: 'Makes the index public.',
  inputSchema: z.object({ audience: z.string() }),
  effect: 'write',
  approval: ({ audience }) => audience !== 'staff',
  handler: ({ audience }) => `Published for ${audience}.`,
})
const publisher = new TurnRunner({
  executor: publishing, // or a model
  tools: [publish],
  approve: async ({ tool, args }) =>
    tool === 'publish' && args?.['audience'] === 'everyone'
      ? { approve: false, decidedBy: 'policy', reason: 'Only staff and partners.' }
      : { approve: true, decidedBy: 'policy' },
})
// #endregion approve

// #region memory
const reminded = new TurnRunner({
  executor: reading, // or a model
  middleware: [
    {
      async dispatch(ctx, next) {
        const content = 'The archive is in Dutch.'
        ctx.addMemory(new Memory({ id: 'language', content, createdAt: Date.now() }))
        await next()
      },
    },
  ],
})
// #endregion memory

const runner = new TurnRunner({
  tools: [search, reindex, status],
  secrets: () => 'k-123',
  executor: async ({ iteration }, { toolInput }) => {
    for (const delta of ['{"words":"bob', 'bin"}']) toolInput({ id: '0', tool: 'search', delta })
    if (iteration > 1) return { answer: '{"ready":true,"shards":3}' }
    const polls = Array.from({ length: 9 }, () => ({ tool: 'index_status', args: {} }))
    const first = { tool: 'search', args: { words: 'bobbin' } }
    const more = { tool: 'reindex', args: { shards: 3 } }
    return { calls: [first, more, ...polls] }
  },
})
let reports = 0
runner.observe('toolProgress', () => reports++)
/** @type {string[]} */
const screen = []

// #region preview
/** @type {Map<string, ArgumentPreview>} */
const previews = new Map()
runner.on('toolInput', ({ id, tool, delta }) => {
  const preview = previews.get(id) ?? new ArgumentPreview()
  previews.set(id, preview)
  preview.push(delta) // looks at each piece once, however long the arguments are
  screen.push(`${tool} ${JSON.stringify(preview.value)}`)
})
// #endregion preview

// #region output
const answer = z.object({ ready: z.boolean(), shards: z.number() })
const outcome = await runner.run({ message: 'Is the index ready?', output: answer })
assert.deepEqual(outcome.output, { ready: true, shards: 3 })
// #endregion output

const asker = new TurnRunner({
  executor: async ({ items }) => ({ answer: items.length > 1 ? '{"shards":3}' : '{"shards":"3"}' }),
})
// #region correct
const shards = z.object({ shards: z.number() })
const counted = await asker.run({
  message: 'How many shards are there?',
  output: { schema: shards, attempts: 2 },
})
assert.deepEqual(counted.output, { shards: 3 })
// #endregion correct

assert.deepEqual(screen.slice(0, 2), ['search {"words":"bob"}', 'search {"words":"bobbin"}'])
const [found, indexed, ...rest] = outcome.toolCalls
assert.equal(found?.inline, false)
assert.deepEqual([indexed?.settlement, reports], ['ok', 3])
assert.doesNotMatch(JSON.stringify(outcome.toolCalls), /k-123/)
assert.deepEqual(new Set(rest.map(({ settlement }) => settlement)), new Set(['ok']))
assert.equal((await publisher.run({ message: 'Publish it.' })).text, 'denied')
assert.equal((await reminded.run({ message: 'Hello.' })).text, 'The archive is in Dutch.')
console.log(`${outcome.toolCalls.length} calls, each settled as its recipe says.`)
