import { stopTurn } from '../../store/feed/stop-turn.ts'
import { command, onePositional } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { nameText } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'
import { writeJson } from '../terminal/write-json.ts'

export const stop = command({
  name: 'stop',
  usage: ['stop CONVERSATION'],
  about:
    'Asks the turn that runs in a conversation to stop, in whatever process it runs. That process notices within a second.',
  options: {
    turn: { type: 'string', value: 'ID', help: 'Only if this turn runs' },
    ...STORE_OPTIONS,
  },
  run: ({ values, positionals }, io) =>
    withStore(values, io, { create: false }, async (store) => {
      const name = onePositional(positionals, 'a conversation', 'stop')
      const { id: conversation } = await findConversation(store, name)
      const { turn: turnId } = values
      const input = { conversation, ...(turnId !== undefined && { turnId }) }
      const stopped = await stopTurn(store, input)
      if (values.json === true) writeJson(io, stopped ?? null)
      else if (stopped === undefined)
        io.stdout.write(`No turn runs in ${nameText(conversation)}.\n`)
      else io.stdout.write(`Turn ${nameText(stopped.turnId)} was asked to stop.\n`)
      return EXIT.ok
    }),
})
