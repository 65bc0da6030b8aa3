// A person approves a call and grants the same again: another process runs it without asking, until the grant is revoked.
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
  assert.match(inOwnProcess('grant'), /completed · reply approved by bob/)
  assert.match(inOwnProcess('again'), /completed · reply allowed by a grant/)
  assert.match(inOwnProcess('revoke'), /revoked by bob\nsuspended/)
  rmSync(folder, { recursive: true })
} else {
  const reply = new Tool({
    name: 'reply',
    description: 'Answers a mail.',
    inputSchema: z.object({ to: z.string(), text: z.string() }),
    effect: 'write',
    approval: true,
    handler: ({ to }) => `Sent to ${to}.`,
  })
  const store = sqliteStore(path)
  let isAsked = false
  // #region runner
  const runner = new TurnRunner({
    store,
    tools: [reply],
    executor: async ({ turnId }) => nextStep(turnId), // or a model
    subject: (context) => /** @type {{ user: string }} */ (context).user,
    mayDecide: (_gate, decision, { context }) =>
      decision.decidedBy === /** @type {{ user: string }} */ (context).user || 'Only the owner.',
  })
  // #endregion runner
  const context = { user: 'bob' }
  const run = (/** @type {string} */ conversation) => {
    isAsked = true
    return runner.run({ conversation, message: 'Answer ann.', context })
  }
  const nextStep = (/** @type {string} */ id) => {
    if (!isAsked) return { answer: 'Answered.' }
    isAsked = false
    return { calls: [{ tool: 'reply', args: { to: 'ann', text: `Yes. (${id})` } }] }
  }
  if (act === 'ask') {
    const { status } = await run('monday')
    console.log(status)
  } else if (act === 'grant') {
    // #region grant
    const [gate] = await store.openGates('monday')
    assert.ok(gate)
    const { status, toolCalls } = await runner.resume({
      conversation: 'monday',
      decisions: [
        {
          gate: gate.id,
          digest: gate.digest,
          approve: true,
          decidedBy: 'bob',
          // Replies to ann, whatever the text, in all conversations of bob, also after they have read her mails.
          grant: { for: 'subject', args: { to: 'ann' }, uses: 20, tainted: true },
        },
      ],
    })
    // #endregion grant
    const { approvedBy } = toolCalls[0] ?? {}
    assert.deepEqual(approvedBy, { gate: gate.id, decidedBy: 'bob' })
    console.log(status, '· reply approved by', 'bob')
  } else if (act === 'again') {
    const { status, toolCalls } = await run('tuesday')
    const [grant] = await store.grants({ subject: 'bob' })
    assert.deepEqual([toolCalls[0]?.approvedBy, grant?.used], [{ grant: grant?.id }, 1])
    console.log(status, '· reply allowed by a grant')
  } else {
    // #region revoke
    for (const { id } of await store.grants({ subject: 'bob', tool: 'reply' })) {
      const { revokedBy } = await store.revokeGrant(id, { decidedBy: 'bob' })
      console.log('revoked by', revokedBy)
    }
    // #endregion revoke
    const { status } = await run('wednesday')
    console.log(status)
  }
  await store.close()
}
