import { BobbinError } from '../../core/error/error.ts'
import type { Store } from '../../store/store.ts'
import { command } from '../command/command.ts'
import { eachConversation, findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { nameText, oneLine } from '../terminal/call-text.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { Screen } from '../terminal/screen.ts'
import { writeJson } from '../terminal/write-json.ts'

export const verify = command({
  name: 'verify',
  usage: ['verify [CONVERSATION …]'],
  about:
    'Looks for edits, deletions, insertions and reordering in records, gates, and stored bytes. Without a seal kept elsewhere (--seal), a cut-off end cannot be seen.',
  options: {
    seal: {
      type: 'string',
      multiple: true,
      value: 'SEAL',
      help: 'A seal that was kept outside the store; it must still be there',
    },
    ...STORE_OPTIONS,
  },
  run: ({ values, positionals }, io) =>
    withStore(values, io, { create: false }, async (store) => {
      const paint = paintFor(io)
      const screen = new Screen(io)
      const found = await wanted(store, positionals)
      if (found.length === 0) return nothingFound(io, values)
      let isSound = true
      for (const { id, seal } of found) {
        const seals = values.seal === undefined ? {} : { seals: values.seal }
        const report = await store.verify({ conversation: id, ...seals })
        isSound &&= report.ok
        if (values.json === true) {
          writeJson(io, { conversation: id, seal, ...report })
          continue
        }
        const sign = report.ok ? paint.green('✓') : paint.red('✗')
        const faults = report.ok ? '' : `, ${report.faults.length} faults`
        screen.line(
          `${sign} ${nameText(id)}  ${report.entries} entries, ${report.sealed} sealed${faults}`,
        )
        screen.line(`  ${paint.dim(seal === undefined ? 'no seal yet' : `seal ${seal}`)}`)
        for (const { fault, part, message } of report.faults) {
          screen.line(`    ${paint.red(fault)} ${part}: ${oneLine(message, 400)}`)
        }
      }
      return isSound ? EXIT.ok : EXIT.failed
    }),
})

/** With a seal that was kept elsewhere, an empty store is a fault. */
function nothingFound(
  io: Io,
  { seal, json }: { seal?: readonly string[]; json?: boolean },
): number {
  const message = 'This store has no conversations'
  if (seal !== undefined) {
    const id = seal[0] ?? ''
    throw new BobbinError('E_NOT_FOUND', `${message}: the sealed one was deleted.`, {
      what: 'conversation',
      id,
    })
  }
  if (json !== true) io.stderr.write(`${message}.\n`)
  return EXIT.ok
}

async function wanted(store: Store, names: readonly string[]) {
  if (names.length > 0) {
    return Promise.all(names.map((name) => findConversation(store, name)))
  }
  const all = []
  for await (const info of eachConversation(store)) all.push(info)
  return all
}
