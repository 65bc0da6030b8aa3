// A turn in a terminal: its text as it streams, its calls as they settle, and Ctrl-C in the middle.
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { memoryStore, Tool, TurnRunner } from 'bobbin-adk'
import { scriptedModel } from 'bobbin-adk/testing'
import { z } from 'zod'

const build = new Tool({
  name: 'build',
  description: 'Builds the index.',
  inputSchema: z.object({}),
  effect: 'idempotent',
  handler: async (_, { signal }) => {
    setTimeout(() => process.emit('SIGINT'), 50) // a person presses Ctrl-C
    await wait(60_000, undefined, { signal })
    return 'built'
  },
})
const model = scriptedModel([
  [{ text: 'I build it first.' }, { call: 'build', args: {} }],
  [{ text: 'It was not built: you stopped it.' }],
])
const runner = new TurnRunner({ model, tools: [build], store: memoryStore() })

// #region stream
const abort = new AbortController()
process.once('SIGINT', () => abort.abort()) // a second Ctrl-C ends the process
const turn = runner.stream({
  conversation: 'index',
  message: 'Build the index.',
  signal: abort.signal,
})
for await (const event of turn) {
  if (event.type === 'message') process.stdout.write(event.delta ?? '')
  if (event.type === 'toolCall') console.log(`\n[${event.tool} ${event.settlement ?? '…'}]`)
}
const { status, toolCalls } = await turn.outcome
// #endregion stream
assert.equal(status, 'aborted')
assert.deepEqual(
  toolCalls.map(({ settlement }) => settlement),
  ['aborted'],
)

// #region continue
const { text } = await runner.recover({ conversation: 'index' }) // or `run`, with another message
// #endregion continue
console.log(text)
assert.equal(text, 'It was not built: you stopped it.')
