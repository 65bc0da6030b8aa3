import type { ForkOptions } from '../../store/branches.ts'
import { command, onePositional } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { nameText } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'
import { writeJson } from '../terminal/write-json.ts'

export const fork = command({
  name: 'fork',
  usage: ['fork CONVERSATION [--to CONVERSATION]'],
  about:
    'Copies a conversation into a new one that continues apart, cut back to where every call is settled. The original does not change.',
  options: {
    to: { type: 'string', value: 'ID', help: 'The name of the new conversation' },
    turn: { type: 'string', value: 'ID', help: 'Only up to the end of this turn' },
    position: {
      type: 'string',
      value: 'POSITION',
      help: 'Only up to this position, as `bobbin follow --json` shows it',
    },
    ...STORE_OPTIONS,
  },
  run: ({ values, positionals }, io) =>
    withStore(values, io, { create: false }, async (store) => {
      const name = onePositional(positionals, 'a conversation', 'fork')
      const { id: from } = await findConversation(store, name)
      const { to, turn: turnId, position } = values
      if (turnId !== undefined && position !== undefined) {
        throw usageError('`--turn` and `--position` exclude each other: give one.', 'fork')
      }
      const options: ForkOptions = {
        ...(to !== undefined && { to }),
        ...(turnId !== undefined && { after: { turnId } }),
        ...(position !== undefined && { after: { position } }),
      }
      const info = await store.fork(from, options)
      if (values.json === true) writeJson(io, info)
      else {
        const count = info.origin?.length ?? 0
        io.stdout.write(`Forked ${nameText(from)} into ${nameText(info.id)}: ${count} entries\n`)
      }
      return EXIT.ok
    }),
})
