import { sweepSpool } from '../../store/audit/sweep-spool.ts'
import { command } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { showBytes } from '../terminal/amounts.ts'
import { nameText } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'
import { writeJson } from '../terminal/write-json.ts'

export const gc = command({
  name: 'gc',
  usage: ['gc', 'gc --delete CONVERSATION'],
  about:
    'Removes outputs that no record refers to any more. Outputs written within the grace period stay, because their record may not be stored yet.',
  options: {
    delete: {
      type: 'string',
      multiple: true,
      value: 'CONVERSATION',
      help: 'Delete this conversation first, with its records, gates and keys',
    },
    grace: { type: 'string', value: 'MINUTES', help: 'The grace period; 60 unless given' },
    ...STORE_OPTIONS,
  },
  run: ({ values }, io) => {
    const minutes = Number(values.grace ?? 60)
    if (!(minutes >= 0))
      throw usageError(`\`--grace ${values.grace}\` is not a number of minutes.`, 'gc')
    return withStore(values, io, { create: false }, async (store) => {
      const deleted: string[] = []
      for (const wanted of values.delete ?? []) {
        const { id } = await findConversation(store, wanted)
        if (await store.delete(id)) deleted.push(id)
      }
      const swept = await sweepSpool(store, store.spool, { graceMs: minutes * 60_000 })
      if (values.json === true) writeJson(io, { conversations: deleted, ...swept })
      else {
        for (const id of deleted) io.stdout.write(`Deleted ${nameText(id)}\n`)
        const { deleted: gone, kept, bytesFreed } = swept
        io.stdout.write(`${gone} outputs removed, ${kept} kept, ${showBytes(bytesFreed)} freed\n`)
      }
      return EXIT.ok
    })
  },
})
