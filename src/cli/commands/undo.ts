import { command, onePositional } from '../command/command.ts'
import { findCall, findConversation } from '../command/find-record.ts'
import { withStore } from '../command/store-location.ts'
import { writeOutcome } from '../run/json-view.ts'
import { exitCodeOf, openSession, TURN_OPTIONS } from '../run/turn-session.ts'
import { reasonText } from '../run/turn-summary.ts'
import { withAgent } from '../run/with-agent.ts'
import { errorText, nameText } from '../terminal/call-text.ts'
import { EXIT } from '../terminal/io.ts'

export const undo = command({
  name: 'undo',
  usage: ['undo CALL'],
  about:
    'Takes back what a call did, if its tool in the agent file has `undo`. No model is asked; the model reads about it in the next turn.',
  options: {
    conversation: { type: 'string', short: 'c', value: 'ID', help: 'The conversation of the call' },
    by: {
      type: 'string',
      value: 'NAME',
      help: 'Who asks for it; the user of this computer unless given',
    },
    ...TURN_OPTIONS,
  },
  run: ({ values, positionals }, io) =>
    withStore(values, io, { create: false }, async (store) => {
      const wanted = onePositional(positionals, 'a call', 'undo')
      const place = values.conversation && (await findConversation(store, values.conversation)).id
      const { conversation, entry } = await findCall(store, wanted, place)
      const toolCallId = entry.data['id'] as string
      const decidedBy = values.by || io.env['USER'] || io.env['USERNAME'] || 'command line'
      return withAgent(values, io, async (loaded) => {
        const session = await openSession(loaded, values, io, store)
        const turn = await session.drive((runner) =>
          runner.undo({ conversation, toolCallId, decidedBy, signal: io.signal }),
        )
        const undone = turn.calls.find((call) => call.undoes === toolCallId)
        const isFailed = undone !== undefined && undone.settlement !== 'ok'
        if (values.json === true) writeOutcome(io, turn)
        else {
          session.screen.endText()
          const ended = undone?.settlement ?? turn.outcome.status
          const why = isFailed ? `: ${errorText(undone.results)}` : ''
          session.screen.line(`undo of ${nameText(toolCallId)}: ${ended}${why}`)
          const reason = reasonText(turn)
          if (reason !== undefined) session.screen.line(reason)
        }
        return Math.max(exitCodeOf(turn, io), isFailed ? EXIT.failed : EXIT.ok)
      })
    }),
})
