// The server of the chat: turns for `useChat`, reconnects, decisions, and stop.
import { isBobbinError, TurnRunner } from 'bobbin-adk'
import {
  approvalsOf,
  uiMessageResponse,
  uiMessages,
  uiReconnectResponse,
  userMessageOf,
} from 'bobbin-adk/ui'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'

/**
 * @param {object} parts
 * @param {import('bobbin-adk').Store} parts.store
 * @param {import('bobbin-adk').Model} parts.model
 * @param {Iterable<import('bobbin-adk').Tool>} parts.tools
 * @param {string} parts.instructions
 */
export function chatApp({ store, model, tools, instructions }) {
  const runner = new TurnRunner({ store, model, tools, instructions })
  const app = new Hono()
  app.use('/api/*', bodyLimit({ maxSize: 4_000_000 }))
  // Who asks is for your own sign-in to say, never for the body.
  const decidedBy = 'the user of this example'

  // #region chat
  app.post('/api/chat', async (c) => {
    const body = await c.req.json()
    const conversation = String(body.id)
    // The body is the page's own copy of the conversation: only verdicts and the last message are read from it.
    const gates = await store.openGates(conversation)
    const decisions = approvalsOf(body, { gates, decidedBy })
    if (decisions.length > 0) return uiMessageResponse(runner.resume({ conversation, decisions }))
    // The button that asks for another answer. If calls may have changed something, it is refused.
    if (body.trigger === 'regenerate-message') {
      return uiMessageResponse(runner.regenerate({ conversation }))
    }
    const message = userMessageOf(body)
    if (message === undefined) return c.text('There is no message, and no open approval.', 400)
    // A request that is sent twice starts one turn.
    const once = message.id === undefined ? {} : { turnId: `turn-${message.id}` }
    return uiMessageResponse(runner.run({ conversation, message: message.text, ...once }))
  })
  // #endregion chat

  // #region reload
  // What a page shows when it is opened, and the stream of the turn that runs, if one does.
  app.get('/api/chat/:id', async (c) =>
    c.json(await uiMessages(store, { conversation: c.req.param('id') })),
  )
  app.get('/api/chat/:id/stream', (c) =>
    uiReconnectResponse(store, { conversation: c.req.param('id') }),
  )
  // #endregion reload

  // #region decide
  // A decision with other arguments, or the answer to what a tool asks. The page follows the turn with the route above.
  app.post('/api/chat/:id/decide', async (c) => {
    const { gate, digest, approve, args, value, done } = await c.req.json()
    const conversation = c.req.param('id')
    // Only these members: a page gives no grants.
    const decision = { gate, digest, approve, args, value, done, decidedBy }
    const handle = runner.resume({ conversation, decisions: [decision] })
    // The turn has begun with its first event; decisions that are refused are thrown here.
    for await (const _ of handle) break
    return c.json({ turnId: handle.turnId })
  })
  // #endregion decide

  // #region stop
  app.post('/api/chat/:id/stop', async (c) =>
    c.json((await runner.stop({ conversation: c.req.param('id') })) ?? {}),
  )
  // #endregion stop

  app.get('/api/conversations', async (c) => {
    const all = (await store.conversations({ limit: 200 })).toSorted(
      (a, b) => b.updatedAt - a.updatedAt,
    )
    return c.json(await Promise.all(all.map(({ id, holder }) => entryOf(store, id, holder))))
  })

  app.onError((error, c) =>
    isBobbinError(error)
      ? c.json({ error: error.code, message: error.message }, 409)
      : c.text('The request failed.', 500),
  )
  return app
}

/**
 * A line of the sidebar.
 *
 * @param {import('bobbin-adk').Store} store
 * @param {string} id
 * @param {unknown} holder
 */
async function entryOf(store, id, holder) {
  const { entries } = await store.find({ conversation: id, kind: 'message', limit: 1 })
  const text = /** @type {{ content?: unknown } | undefined} */ (entries[0]?.entry.data)?.content
  const title = typeof text === 'string' ? text.slice(0, 60) : 'New conversation'
  return { id, title, isRunning: holder !== undefined }
}
