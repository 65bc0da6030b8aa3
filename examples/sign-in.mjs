// A handler needs a person to sign in elsewhere. The process ends; another process receives the answer, and the handler runs again.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkRequired, Tool, TurnRunner } from 'bobbin-adk'
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
  assert.match(inOwnProcess('ask'), /suspended · open https:\/\/login\.example\//)
  assert.match(inOwnProcess('done'), /completed · You have 2 meetings today\./)
  rmSync(folder, { recursive: true })
} else {
  // What your own sign-in callback stores; here, the second process has it.
  const tokens = new Map(act === 'done' ? [['ann', 'token-of-ann']] : [])
  // #region tool
  const meetings = new Tool({
    name: 'list_meetings',
    description: 'Lists the meetings of today.',
    inputSchema: z.object({ user: z.string() }),
    effect: 'read',
    handler: ({ user }) => {
      // The person says that it is done; the token proves it.
      if (!tokens.has(user)) {
        const url = `https://login.example/calendar?user=${encodeURIComponent(user)}`
        return linkRequired({ message: 'Sign in to your calendar.', url })
      }
      return ['09:00 stand-up', '14:00 review']
    },
  })
  // #endregion tool
  const store = sqliteStore(path)
  const runner = new TurnRunner({
    store,
    tools: [meetings],
    executor: async ({ items }) =>
      items.some(({ type }) => type === 'call')
        ? { answer: 'You have 2 meetings today.' }
        : { calls: [{ tool: 'list_meetings', args: { user: 'ann' } }] },
  })
  if (act === 'ask') {
    // #region ask
    const { status, gates } = await runner.run({ conversation: 'day', message: 'My meetings?' })
    for (const { url } of gates) console.log(status, '· open', url)
    // #endregion ask
  } else {
    // #region done
    const [gate] = await store.openGates('day')
    assert.ok(gate)
    const { status, text } = await runner.resume({
      conversation: 'day',
      decisions: [{ gate: gate.id, digest: gate.digest, done: true, decidedBy: 'ann' }],
    })
    console.log(status, '·', text)
    // #endregion done
  }
  await store.close()
}
