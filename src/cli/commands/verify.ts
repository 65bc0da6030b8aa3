import { BobbinError } from '../../core/error.ts'
import type { Store } from '../../store/store.ts'
import { oneLine } from '../call-lines.ts'
import { command } from '../command.ts'
import { eachConversation, findConversation } from '../find-record.ts'
import { EXIT, type Io } from '../io.ts'
import { writeJson } from '../json-view.ts'
import { paintFor } from '../paint.ts'
import { STORE_OPTIONS, withStore } from '../store-location.ts'

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
        io.stdout.write(
          `${sign} ${id}  ${report.entries} entries, ${report.sealed} sealed${faults}  ${paint.dim(seal ?? 'no seal yet')}\n`,
        )
        for (const fault of report.faults) {
          io.stdout.write(
            `    ${paint.red(fault.fault)} ${fault.part}: ${oneLine(fault.message, 400)}\n`,
          )
        }
      }
      return isSound ? EXIT.ok : EXIT.failed
    }),
})

/** A seal that was kept elsewhere tells that something was here, and now nothing is. */
function nothingFound(
  io: Io,
  { seal, json }: { seal?: readonly string[]; json?: boolean },
): number {
  const message = 'There are no conversations in this store'
  if (seal !== undefined) {
    const id = seal[0] ?? ''
    throw new BobbinError('E_NOT_FOUND', `${message}: what the seal is of was deleted.`, {
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
