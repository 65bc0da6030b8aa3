// Two long jobs: one runs in the background of the turn, the other one elsewhere. The process ends; another one gets the result.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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
  assert.match(inOwnProcess('build'), /completed · Built and tested\./)
  assert.match(inOwnProcess('print'), /suspended · print for job [^ ]+ \{ copies: 2 \}/)
  assert.match(inOwnProcess('printed'), /completed · Printed\. \[ 'print ok external' \]/)
  rmSync(folder, { recursive: true })
} else {
  // #region background
  const build = new Tool({
    name: 'build',
    description: 'Builds the program. Takes minutes.',
    inputSchema: z.object({ target: z.string() }),
    effect: 'idempotent',
    trust: 'first-party',
    background: true,
    handler: async ({ target }, ctx) => {
      await sleep(100, undefined, { signal: ctx.signal })
      return `${target} was built`
    },
  })
  // #endregion background
  // #region external
  const print = new Tool({
    name: 'print',
    description: 'Prints at the printer of the office.',
    inputSchema: z.object({ copies: z.number() }),
    effect: 'write',
    external: true,
  })
  // #endregion external
  const lint = new Tool({
    name: 'lint',
    description: 'Checks the sources.',
    inputSchema: z.object({}),
    effect: 'read',
    trust: 'first-party',
    handler: () => 'no faults',
  })
  const store = sqliteStore(path)
  const runner = new TurnRunner({
    store,
    tools: [build, print, lint],
    // Stands for a model: what it says depends on what it has read.
    executor: async ({ items }) => {
      const asked = items.flatMap((item) => (item.type === 'call' ? item.tool : []))
      if (act !== 'build') {
        if (asked.includes('print')) return { answer: 'Printed.' }
        return { calls: [{ tool: 'print', args: { copies: 2 } }] }
      }
      if (!asked.includes('build')) return { calls: [{ tool: 'build', args: { target: 'app' } }] }
      // It has a receipt and does something else meanwhile.
      if (!asked.includes('lint')) return { calls: [{ tool: 'lint', args: {} }] }
      const isBuilt = items.some((item) => 'resultOf' in item)
      return { answer: isBuilt ? 'Built and tested.' : 'The build is running.' }
    },
  })
  if (act === 'build') {
    const { status, text } = await runner.run({ conversation: 'release', message: 'Build it.' })
    console.log(status, '·', text)
  } else if (act === 'print') {
    // #region opened
    const { status, gates } = await runner.run({ conversation: 'letter', message: 'Print it.' })
    // A queue gets what to do, and the key by which it knows a job that it has already.
    for (const { tool, idempotencyKey, args } of gates) {
      console.log(status, '·', tool, 'for job', idempotencyKey, args)
    }
    // #endregion opened
  } else {
    // #region reported
    const [gate] = await store.openGates('letter')
    assert.ok(gate)
    const { status, text, toolCalls } = await runner.resume({
      conversation: 'letter',
      decisions: [{ gate: gate.id, decidedBy: 'printer-3', result: { pages: 2 } }],
    })
    // #endregion reported
    const ended = toolCalls.map((call) => `${call.tool} ${call.settlement} ${call.executedBy}`)
    console.log(status, '·', text, ended)
  }
  await store.close()
}
