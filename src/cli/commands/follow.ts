import { followConversation } from '../../store/feed/follow-conversation.ts'
import { command, onePositional } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { FeedView } from '../run/feed-view.ts'
import { EXIT } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { Screen } from '../terminal/screen.ts'
import { writeJson } from '../terminal/write-json.ts'

export const follow = command({
  name: 'follow',
  usage: ['follow CONVERSATION'],
  about:
    'Shows a conversation from its first entry, and then what happens in it, in any process: text as it streams, calls, progress, gates. Ends when the conversation rests.',
  options: {
    after: {
      type: 'string',
      value: 'POSITION',
      help: 'Only what comes after this position of an event',
    },
    live: { type: 'boolean', help: 'Stay when the conversation rests' },
    ...STORE_OPTIONS,
  },
  run: ({ values, positionals }, io) =>
    withStore(values, io, { create: false }, async (store) => {
      const name = onePositional(positionals, 'a conversation', 'follow')
      const { id: conversation } = await findConversation(store, name)
      const { after, live = false } = values
      const view = new FeedView(new Screen(io), paintFor(io))
      const feed = followConversation(store, {
        conversation,
        live,
        signal: io.signal,
        ...(after !== undefined && { after }),
      })
      let isLost = false
      for await (const event of feed) {
        isLost = event.type === 'warning' && event.code === 'TURN_LOST'
        if (values.json === true) writeJson(io, event)
        else view.show(event)
      }
      view.end()
      return isLost ? EXIT.failed : EXIT.ok
    }),
})
