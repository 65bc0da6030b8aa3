// A call that needs an approval: the turn is suspended, the process may end, and a valid decision
// lets the call run exactly once. What a client sends is never the decision itself: the store holds that.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isBobbinError, Tool, TurnRunner } from 'bobbin-adk'
import { sqliteStore } from 'bobbin-adk/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-approval-'))
const path = join(folder, 'agent.db')
/** @type {object[]} */
const paid = []

const pay = new Tool({
  name: 'pay',
  description: 'Pays an invoice.',
  inputSchema: z.object({ invoice: z.string(), amount: z.number() }),
  effect: 'write',
  approval: ({ amount }) => amount > 100,
  handler: (args) => {
    paid.push(args)
    return `paid ${args.amount}`
  },
})
// Stands in for a model: asks for one payment and reports when it has settled.
/** @type {import('bobbin-adk').Executor} */
const executor = async ({ turnToolCalls }) =>
  turnToolCalls.length === 0
    ? { calls: [{ tool: 'pay', args: { invoice: 'A-17', amount: 250 } }] }
    : { answer: `The payment ended as: ${turnToolCalls.at(-1)?.settlement}.` }

// The first process asks and stops.
const first = sqliteStore(path)
const asked = await new TurnRunner({ executor, tools: [pay], store: first }).run({
  conversation: 'invoices',
  message: 'Pay invoice A-17.',
})
const [gate] = asked.gates
assert.ok(gate)
console.log(asked.status, '· to decide:', gate.tool, JSON.stringify(gate.args))
await first.close()

// Another process, another day: a person who saw the gate decides.
const second = sqliteStore(path)
const runner = new TurnRunner({ executor, tools: [pay], store: second })
const decision = { gate: gate.id, digest: gate.digest, approve: true, decidedBy: 'ann@example.com' }

const forged = { ...decision, digest: '0'.repeat(64) }
const refused = await runner
  .resume({ conversation: 'invoices', decisions: [forged] })
  .catch((error) => error)
console.log('a forged decision:', isBobbinError(refused) ? refused.code : 'ACCEPTED')

const outcome = await runner.resume({ conversation: 'invoices', decisions: [decision] })
console.log(outcome.status, '·', outcome.text)

const again = await runner
  .resume({ conversation: 'invoices', decisions: [decision] })
  .catch((error) => error)
console.log('the same decision again:', isBobbinError(again) ? again.code : 'ACCEPTED')
await second.close()
rmSync(folder, { recursive: true, force: true })

assert.equal(asked.status, 'suspended')
assert.equal(refused.code, 'E_GATE_STATE')
assert.equal(again.code, 'E_GATE_STATE')
assert.equal(outcome.text, 'The payment ended as: ok.')
assert.deepEqual(paid, [{ invoice: 'A-17', amount: 250 }])
