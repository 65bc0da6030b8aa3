// A handler needs an answer of a person. The process ends; another process gets the answer, and the handler runs again.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inputRequired, isBobbinError, Tool, TurnRunner } from 'bobbin-adk'
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
  assert.match(inOwnProcess('ask'), /suspended · Which seat\?/)
  assert.match(
    inOwnProcess('answer'),
    /refused: E_INVALID_DECISION\ncompleted · Seat 12A is yours\./,
  )
  rmSync(folder, { recursive: true })
} else {
  // #region tool
  const reserve = new Tool({
    name: 'reserve_seat',
    description: 'Reserves a seat on a flight.',
    inputSchema: z.object({ flight: z.string() }),
    effect: 'idempotent',
    handler: ({ flight }, { input, idempotencyKey }) => {
      if (input === undefined) {
        return inputRequired({
          message: `Which seat? Flight ${flight} has 12A and 14C.`,
          schema: z.object({ seat: z.enum(['12A', '14C']) }),
          state: { offer: 4711 },
        })
      }
      const { seat } = /** @type {{ seat: string }} */ (input.value)
      return `Reserved ${seat} (${idempotencyKey}).`
    },
  })
  // #endregion tool
  const store = sqliteStore(path)
  const runner = new TurnRunner({
    store,
    tools: [reserve],
    executor: async ({ items }) =>
      items.some(({ type }) => type === 'call')
        ? { answer: 'Seat 12A is yours.' }
        : { calls: [{ tool: 'reserve_seat', args: { flight: 'LH 400' } }] },
  })
  if (act === 'ask') {
    // #region ask
    const { status, gates } = await runner.run({ conversation: 'trip', message: 'Book my seat.' })
    for (const { message, schema } of gates) console.log(status, '·', message, schema)
    // #endregion ask
  } else {
    // #region answer
    const [gate] = await store.openGates('trip')
    assert.ok(gate)
    const answer = (/** @type {string} */ seat) =>
      runner.resume({
        conversation: 'trip',
        decisions: [{ gate: gate.id, digest: gate.digest, value: { seat }, decidedBy: 'ann' }],
      })
    // A value that does not fit the schema decides nothing: the gate stays open.
    const wrong = await answer('1A').catch((error) => isBobbinError(error) && error.code)
    console.log('refused:', wrong)
    const { status, text } = await answer('12A')
    console.log(status, '·', text)
    // #endregion answer
  }
  await store.close()
}
