// A call is taken back in a later process: a record of its own, which the model reads in the next turn.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBobbinError, Tool, TurnRunner } from 'bobbin-adk'
import { sqliteStore } from 'bobbin-adk/sqlite'
import { z } from 'zod'

const [, , act, path = ''] = process.argv

if (act === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-example-'))
  const database = join(folder, 'agent.db')
  const inOwnProcess = (/** @type {string} */ what) => {
    const args = [fileURLToPath(import.meta.url), what, database]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    process.stdout.write(stdout)
    return stdout
  }
  assert.match(inOwnProcess('book'), /completed · Booked\./)
  assert.match(inOwnProcess('undo'), /completed · undo:book ok undoes call_1/)
  assert.match(inOwnProcess('undo'), /E_CANNOT_UNDO/)
  assert.match(inOwnProcess('ask'), /completed · The seat was cancelled\./)
  assert.equal(readFileSync(`${database}.seats`, 'utf8'), 'booked 12A\ncancelled 12A\n')
  rmSync(folder, { recursive: true })
} else {
  const seats = `${path}.seats`
  // #region tool
  const inputSchema = z.object({ seat: z.string() })
  const book = new Tool({
    name: 'book',
    description: 'Books a seat.',
    inputSchema,
    effect: 'write',
    trust: 'first-party',
    handler: ({ seat }) => {
      appendFileSync(seats, `booked ${seat}\n`)
      return `Seat ${seat} is booked.`
    },
    undo: (call) => {
      const { seat } = inputSchema.parse(call.args)
      appendFileSync(seats, `cancelled ${seat}\n`)
      return `Seat ${seat} is free again.`
    },
  })
  // #endregion tool
  const store = sqliteStore(path)
  const runner = new TurnRunner({
    store,
    tools: [book],
    // Stands for a model: what it says depends on what it has read.
    executor: async ({ items }) => {
      if (!items.some(({ type }) => type === 'call')) {
        return { calls: [{ id: 'call_1', tool: 'book', args: { seat: '12A' } }] }
      }
      const isUndone = JSON.stringify(items).includes('was undone')
      return { answer: isUndone ? 'The seat was cancelled.' : 'Booked.' }
    },
  })
  if (act === 'undo') {
    try {
      // #region undo
      const { status, toolCalls } = await runner.undo({
        conversation: 'trip',
        toolCallId: 'call_1',
        decidedBy: 'ann@example.com',
      })
      for (const { tool, settlement, undoes } of toolCalls) {
        console.log(status, '·', tool, settlement, 'undoes', undoes)
      }
      // #endregion undo
    } catch (error) {
      if (!isBobbinError(error, 'E_CANNOT_UNDO')) throw error
      console.log(error.code, '·', error.message)
    }
  } else {
    const message = act === 'book' ? 'Book 12A.' : 'Do I have a seat?'
    const { status, text } = await runner.run({ conversation: 'trip', message })
    console.log(status, '·', text)
  }
  await store.close()
}
