// A runner died between an effect and its record: another one finds out what happened, and continues.
import assert from 'node:assert/strict'
import { memoryStore, Tool, TurnRunner } from 'bobbin-adk'
import { z } from 'zod'

/** @type {Map<string, string>} */
const ledger = new Map()
const payments = {
  find: async (/** @type {string} */ key) => ledger.get(key),
  charge: async (/** @type {number} */ cents, /** @type {string} */ key) => {
    ledger.set(key, `receipt for ${cents}`)
    charged.resolve()
    return new Promise(() => {}) // the process hangs here; the receipt is lost
  },
}
const charged = { resolve: () => {} }
const effect = new Promise((resolve) => (charged.resolve = () => resolve(undefined)))

// #region tool
const charge = new Tool({
  name: 'charge',
  description: 'Charges a card.',
  inputSchema: z.object({ cents: z.number() }),
  effect: 'write',
  handler: ({ cents }, { idempotencyKey }) => payments.charge(cents, idempotencyKey),
  reconcile: async (key) => {
    const receipt = await payments.find(key)
    return receipt === undefined ? { happened: 'no' } : { happened: 'yes', output: receipt }
  },
})
// #endregion tool

/** @type {import('bobbin-adk').Executor} */
const executor = async ({ turnToolCalls: [call] }) =>
  call === undefined
    ? { calls: [{ tool: 'charge', args: { cents: 700 } }] }
    : { answer: `The charge ended as ${call.settlement}.` }

const store = memoryStore() // stands for sqliteStore('agent.db'), which two processes share
const stop = new AbortController()
const dying = new TurnRunner({ executor, tools: [charge], store }).run({
  conversation: 'order-7',
  message: 'Charge 7 euros.',
  signal: stop.signal,
})
await effect

// #region recover
const runner = new TurnRunner({ executor, tools: [charge], store })
runner.observe('warning', ({ code, message }) => console.log(code, message)) // page the operator
const outcome = await runner.recover({ conversation: 'order-7', force: true })
// #endregion recover

assert.equal(outcome.text, 'The charge ended as ok.')
assert.equal(ledger.size, 1)
stop.abort()
await dying.catch(() => {}) // the old runner lost its lease and cannot write any more
const { ok } = await store.verify({ conversation: 'order-7' })
assert.equal(ok, true)
console.log('Charged once, and the receipt was found.')
