// Another answer to the same question, and another question in its place. The log keeps what was taken back.
import assert from 'node:assert/strict'
import { isBobbinError, memoryStore, Tool, TurnRunner } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'
import { z } from 'zod'

const book = new Tool({
  name: 'book',
  description: 'Books a table.',
  inputSchema: z.object({ place: z.string() }),
  effect: 'write',
  trust: 'first-party',
  handler: ({ place }) => `a table at ${place}`,
})
const store = memoryStore()
const model = scriptedModel([
  [{ text: 'Try the harbour.' }],
  [{ text: 'Try the old town.' }],
  [{ call: 'book', args: { place: 'Luigi’s' } }],
  [{ text: 'Booked.' }],
  [{ text: 'What kind of food?' }],
])
const runner = new TurnRunner({ model, tools: [book], store })
const conversation = 'dinner'

// #region again
await runner.run({ conversation, message: 'Where can we eat?' })
const other = await runner.regenerate({ conversation })
assert.equal(other.text, 'Try the old town.')
// #endregion again

// #region instead
const booked = await runner.regenerate({ conversation, message: 'Book a table.' })
assert.equal(booked.text, 'Booked.')
// #endregion instead

// #region effects
try {
  await runner.regenerate({ conversation })
} catch (error) {
  if (!isBobbinError(error, 'E_EFFECTS_WOULD_REPEAT')) throw error
  console.log('May run twice:', error.data.calls.map(({ tool }) => tool).join(', '))
  await runner.regenerate({ conversation, redoEffects: true })
}
// #endregion effects

const { items } = await store.history({ conversation })
assert.deepEqual(
  items.map((item) => ('tool' in item ? item.tool : item.content?.text)),
  ['Book a table.', 'What kind of food?'],
)
