// A first agent sorts, and hands over to the one who can help. The conversation stays with that one, also in a new process.
import assert from 'node:assert/strict'
import { memoryStore, Tool, TurnRunner } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'
import { z } from 'zod'

const findOrder = new Tool({
  name: 'find_order',
  description: 'Finds an order.',
  inputSchema: z.object({ order: z.string() }),
  effect: 'read',
  trust: 'first-party',
  handler: ({ order }) => ({ order, item: 'lamp', euros: 40 }),
})
const refund = new Tool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ order: z.string(), euros: z.number() }),
  effect: 'write',
  trust: 'first-party',
  handler: ({ euros }) => `${euros} euros are on their way`,
})

// Stands for a real model, so that this runs without a network.
const model = scriptedModel([
  [{ call: 'find_order', args: { order: 'A7' } }],
  [{ call: 'refund', args: { order: 'A7', euros: 40 } }],
  [{ call: 'hand_over', args: { to: 'billing', message: 'Order A7 arrived broken.' } }],
  [{ call: 'refund', args: { order: 'A7', euros: 40 } }],
  [{ text: 'You get 40 euros back.' }],
  [{ text: 'Within three days.' }],
])
const store = memoryStore() // stands for sqliteStore('desk.db')

// #region runner
const runner = new TurnRunner({
  model,
  store,
  instructions: 'You work for a shop that sells lamps.',
  tools: [findOrder], // every agent has it
  agents: {
    triage: {
      instructions: 'Find out what the customer needs, then hand over.',
      handOverTo: ['billing', 'repairs'],
    },
    billing: {
      description: 'Pays money back.',
      instructions: 'Refund what arrived broken.',
      tools: [refund],
      handOverTo: ['triage'],
    },
    repairs: { description: 'Helps with lamps that flicker.', handOverTo: ['triage'] },
  },
})
const outcome = await runner.run({ conversation: 'ann', message: 'My lamp arrived broken: A7.' })
// #endregion runner

console.log(outcome.agent, '-', outcome.text)
assert.deepEqual(
  outcome.toolCalls.map(({ tool, settlement }) => `${tool} ${settlement}`),
  // The refund that triage asked for was refused: it has no such tool.
  ['find_order ok', 'refund refused', 'hand_over ok', 'refund ok'],
)

// #region later
const later = await runner.run({ conversation: 'ann', message: 'When do I get it?' })
assert.equal(later.agent, 'billing')
// #endregion later
