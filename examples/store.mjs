// A store by itself: an append-only log with one writer, sealed turns, and what it does not keep.
import assert from 'node:assert/strict'
import { Message, memoryStore, redactKeys, Tool, ToolCall, TurnRunner } from 'bobbin-adk'
import { z } from 'zod'

// #region log
const store = memoryStore()
const { epoch } = await store.acquire('incident-42', { owner: 'worker-1' })
await store.append('incident-42', epoch, [
  { kind: 'turn-start', turnId: 'turn-1', data: {} },
  { kind: 'turn-end', turnId: 'turn-1', data: { status: 'completed' } },
])
const report = await store.verify({ conversation: 'incident-42' })
assert.equal(report.ok, true)
// #endregion log
await assert.rejects(store.acquire('incident-42', { owner: 'worker-2' }), {
  code: 'E_CONVERSATION_BUSY',
})

// #region meta
await store.setMeta('incident-42', { title: 'Checkout is down', user: 'ada' })
const [latest] = await store.conversations({
  meta: { user: 'ada' },
  topLevel: true,
  orderBy: 'updatedAt',
  descending: true,
  limit: 20,
})
assert.equal(latest?.meta?.['title'], 'Checkout is down')
// #endregion meta

// #region redact
const discreet = memoryStore({ redact: redactKeys(/password|token/i) })
// #endregion redact

const login = new Tool({
  name: 'login',
  description: 'Logs in.',
  inputSchema: z.object({ user: z.string(), password: z.string() }),
  effect: 'read',
  handler: ({ password }) => `${password.length} characters were enough.`,
})
const runner = new TurnRunner({
  store: discreet,
  tools: [login],
  executor: async ({ iteration }) =>
    iteration === 1
      ? { calls: [{ tool: 'login', args: { user: 'ada', password: 'tape-and-thread' } }] }
      : { answer: 'Logged in.' },
})
const { conversation, toolCalls } = await runner.run({ message: 'Log in.' })
assert.equal(toolCalls[0]?.args['password'], 'tape-and-thread')

// #region history
const { items, before } = await discreet.history({ conversation, limit: 20 })
for (const item of items) {
  if (Message.isMessage(item)) console.log(`${item.role}: ${item.content?.text}`)
  if (ToolCall.isToolCall(item)) console.log(`${item.tool}: ${item.settlement}`)
}
assert.equal(before, undefined)
// #endregion history
assert.deepEqual(
  items.map((item) => (ToolCall.isToolCall(item) ? item.tool : item.content?.text)),
  ['Log in.', 'login', 'Logged in.'],
)

// #region fork
const branch = await discreet.fork(conversation, { to: 'another-way' })
assert.deepEqual(branch.origin, { conversation, length: branch.length })
const verified = await discreet.verify({ conversation: branch.id })
assert.equal(verified.ok, true)
// #endregion fork
const kept = []
for await (const entry of discreet.entries(conversation)) kept.push(JSON.stringify(entry))
assert.match(kept.join('\n'), /"user":"ada"/)
assert.doesNotMatch(kept.join('\n'), /tape-and-thread/)
console.log(`${report.entries} entries verified; the password was used and not stored.`)
