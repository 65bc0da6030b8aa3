// A call waits for a person. The process ends; another process gets the answer and continues the turn.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Tool, TurnRunner } from 'bobbin-adk'
import { sqliteStore } from 'bobbin-adk/sqlite'
import { z } from 'zod'

const [, , act, path = ''] = process.argv

if (act === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-example-'))
  const inOwnProcess = (/** @type {string} */ what) => {
    const args = [fileURLToPath(import.meta.url), what, join(folder, 'agent.db')]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    process.stdout.write(stdout)
    return stdout
  }
  assert.match(inOwnProcess('ask'), /suspended/)
  assert.match(inOwnProcess('answer'), /completed · Refunded 20 to ann\./)
  rmSync(folder, { recursive: true })
} else {
  const refund = new Tool({
    name: 'refund',
    description: 'Pays money back.',
    inputSchema: z.object({ to: z.string(), amount: z.number() }),
    effect: 'write',
    approval: ({ amount }) => amount > 10,
    handler: ({ to, amount }, ctx) => `Refunded ${amount} to ${to}. (${ctx.idempotencyKey})`,
  })
  const store = sqliteStore(path)
  const runner = new TurnRunner({
    store,
    tools: [refund],
    executor: async ({ items }) =>
      items.some(({ type }) => type === 'call')
        ? { answer: 'Refunded 20 to ann.' }
        : { calls: [{ tool: 'refund', args: { to: 'ann', amount: 20 } }] },
  })
  if (act === 'ask') {
    // #region ask
    const { status, gates } = await runner.run({ conversation: 'order-7', message: 'Refund ann.' })
    for (const { tool, args } of gates) console.log(status, '· a person must approve', tool, args)
    // #endregion ask
  } else {
    // #region answer
    // A web page would show `gate.tool` and `gate.args`, and send `gate.id` and `gate.digest` back.
    const [gate] = await store.openGates('order-7')
    assert.ok(gate)
    const { id, digest } = gate
    const { status, text, toolCalls } = await runner.resume({
      conversation: 'order-7',
      decisions: [{ gate: id, digest, approve: true, decidedBy: 'bob@example.com' }],
    })
    // #endregion answer
    console.log(
      status,
      '·',
      text,
      toolCalls.map(({ tool, settlement }) => `${tool} ${settlement}`),
    )
  }
  await store.close()
}
