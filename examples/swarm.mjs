// Agents without a chief: each may hand over to every other one, and each has a model of its own.
import assert from 'node:assert/strict'
import { Tool, TurnRunner } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'
import { z } from 'zod'

/** @type {string[]} */
const notes = []
const note = new Tool({
  name: 'note',
  description: 'Writes on the board that all agents read.',
  inputSchema: z.object({ text: z.string() }),
  effect: 'idempotent',
  trust: 'first-party',
  handler: ({ text }) => {
    notes.push(text)
    return notes
  },
})

// Stand for real models, so that this runs without a network.
const planning = scriptedModel([
  [
    { call: 'note', args: { text: 'chapters: tea, water' } },
    { call: 'hand_over', args: { to: 'writer' } },
  ],
])
const writing = scriptedModel([
  [{ call: 'hand_over', args: { to: 'critic', message: 'Tea needs water.' } }],
  [{ text: 'Tea needs hot water.' }],
])
const judging = scriptedModel([
  [{ call: 'hand_over', args: { to: 'writer', message: 'Say that it is hot.' } }],
])

// #region runner
const runner = new TurnRunner({
  model: planning,
  tools: [note],
  agents: {
    planner: { description: 'Says what the text is about.' },
    writer: { description: 'Writes the text.', model: writing },
    critic: { description: 'Finds what is missing.', model: judging },
  },
  limits: { iterations: 12 }, // agents that hand over in circles are stopped
})
const outcome = await runner.run({ message: 'Write about tea.' })
// #endregion runner

console.log(outcome.agent, '-', outcome.text)
const handedOver = outcome.toolCalls.filter(({ tool }) => tool === 'hand_over')
assert.deepEqual(
  handedOver.map(({ args }) => args['to']),
  ['writer', 'critic', 'writer'],
)
assert.equal(outcome.text, 'Tea needs hot water.')
