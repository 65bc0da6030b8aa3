// A chat server without a framework: turns streamed as plain events, followed again after a lost connection, stopped, and
// decided by another request. The client at the end stands in for the browser.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { isBobbinError, resultText, SpooledArtifact, Tool, ToolCall, TurnRunner } from 'bobbin-adk'
import { sqliteStore } from 'bobbin-adk/sqlite'
import { storedResults } from 'bobbin-adk/store'
import { scriptedModel } from 'bobbin-adk/testing'
import { feedResponse } from 'bobbin-adk/ui'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-chat-'))
const model = scriptedModel([
  [{ call: 'crawl', args: { pages: 3 } }],
  [{ text: 'Three pages.' }],
  [{ call: 'crawl', args: { pages: 1_000 } }],
  [{ call: 'send', args: { to: 'ann' } }],
  [{ text: 'Sent.' }],
])
const crawl = new Tool({
  name: 'crawl',
  description: 'Reads pages.',
  inputSchema: z.object({ pages: z.number() }),
  effect: 'read',
  handler: async ({ pages }, { progress, signal }) => {
    for (let page = 1; page <= pages; page++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      signal.throwIfAborted() // the turn was stopped
      progress({ page, of: pages })
    }
    return { pages }
  },
})
const send = new Tool({
  name: 'send',
  description: 'Sends the pages to a person.',
  inputSchema: z.object({ to: z.string() }),
  effect: 'write',
  approval: true,
  handler: ({ to }) => `sent to ${to}`,
})

const store = sqliteStore(join(folder, 'chat.db'))
const runner = new TurnRunner({ model, tools: [crawl, send], store })

// #region turn
/** A turn as server-sent events. A browser that leaves does not end it. */
const turn = (/** @type {string} */ conversation, /** @type {string} */ message) =>
  feedResponse(runner.run({ conversation, message }))
// #endregion turn

// #region follow
/**
 * The events after those that the browser has: an `EventSource` sends the id of the last one as `Last-Event-ID`. The
 * turn may run in any process that has the store.
 *
 * @param {string} conversation
 * @param {string | undefined} lastEventId
 */
const follow = (conversation, lastEventId) =>
  feedResponse(
    runner.follow({ conversation, ...(lastEventId !== undefined && { after: lastEventId }) }),
  )
// #endregion follow

// #region stop
/** Ends the turn that runs, in whatever process. */
const stop = async (/** @type {string} */ conversation) =>
  Response.json((await runner.stop({ conversation })) ?? {})
// #endregion stop

// #region shown
/**
 * What a page shows of a call. As JSON a record only refers to an artifact, so that its first lines are read here; an
 * error is text, and media are shown by name and size.
 *
 * @param {import('bobbin-adk').TurnToolCallContent | ToolCall} call
 */
async function shown(call) {
  const { id, tool, settlement, results } = call
  // Live, the answer of an artifact tool is a string; in a stored record it is not. This reads both.
  const text = resultText(call)
  if (text !== undefined) return { id, tool, settlement, result: text }
  const isText = SpooledArtifact.isSpooledArtifact(results)
  const result = isText ? (await results.head(20)).join('\n') : results
  return { id, tool, settlement, result }
}
// #endregion shown

// #region history
/** A conversation as a page shows it when it is opened again. @param {string} conversation */
async function history(conversation) {
  const spool = storedResults(store) // small results are in the store, larger ones on its spool
  const shownItems = []
  for await (const { kind, data } of store.entries(conversation)) {
    if (kind === 'message') shownItems.push({ role: data['role'], text: data['content'] })
    if (kind === 'settlement') shownItems.push(await shown(ToolCall.fromJSON(data, { spool })))
  }
  return shownItems
}
// #endregion history

// #region branch
/** Another way from an earlier place: the page sends the position of the last event that it keeps. */
async function branch(/** @type {string} */ conversation, /** @type {string} */ position) {
  const { id } = await store.fork(conversation, { after: { position } })
  return Response.json({ conversation: id })
}
// #endregion branch

// #region decide
/** A person decides in another request, perhaps in another process. @param {import('bobbin-adk').GateAnswer} answer */
async function decide(/** @type {string} */ conversation, answer) {
  try {
    const outcome = await runner.resume({ conversation, decisions: [answer] })
    return Response.json({ status: outcome.status, text: outcome.text })
  } catch (error) {
    if (!isBobbinError(error)) throw error
    // Decided already, expired, about something else, or arguments that do not fit: nothing was decided.
    return Response.json({ error: error.code, message: error.message }, { status: 409 })
  }
}
// #endregion decide

// #region server
const server = createServer((req, res) => {
  respond(req, res).catch(() => res.destroy())
})

/** Sends a `Response` with Node's own server. @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res */
async function respond(req, res) {
  const { status, headers, body } = await answerTo(req)
  res.writeHead(status, Object.fromEntries(headers))
  if (body === null) res.end()
  // A browser that leaves ends its stream, and with it the reading of the feed.
  else await pipeline(Readable.fromWeb(/** @type {any} */ (body)), res)
}
// #endregion server

/** @param {import('node:http').IncomingMessage} req */
async function answerTo(req) {
  const [, conversation = '', what] = (req.url ?? '').split('/')
  if (what === 'feed') return follow(conversation, req.headers['last-event-id']?.toString())
  if (req.method === 'GET') return Response.json(await history(conversation))
  const body = /** @type {any} */ (await json(req))
  if (what === 'turns') return turn(conversation, body.message)
  if (what === 'stop') return stop(conversation)
  // Who asks is for your own sign-in to say, never for the body.
  return decide(conversation, { ...body, decidedBy: 'bob' })
}
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
const url = `http://127.0.0.1:${port}/trip`
/** @param {string} path @param {object} body */
const post = async (path, body) =>
  (await fetch(`${url}/${path}`, { method: 'POST', body: JSON.stringify(body) })).text()

/** The events in a response, until there are `most`. @param {Response} response */
async function eventsIn(response, most = Number.POSITIVE_INFINITY) {
  /** @type {any[]} */
  const events = []
  let text = ''
  for await (const piece of response.body ?? []) {
    text += new TextDecoder().decode(piece)
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, id, data] = /^id: (.+)\ndata: (.+)$/.exec(block) ?? []
      if (data !== undefined) events.push({ id, ...JSON.parse(data) })
    }
    if (events.length >= most) break // the browser leaves
  }
  return events
}
/** @param {string} message */
const ask = (message) =>
  fetch(`${url}/turns`, { method: 'POST', body: JSON.stringify({ message }) })

// A turn, streamed.
const streamed = await eventsIn(await ask('Read three pages.'))
const told = streamed.filter(({ position }) => position.endsWith('.0')).map(({ type }) => type)
assert.deepEqual(told.slice(0, 2), ['turnStart', 'message'])
assert.equal(streamed.filter(({ type }) => type === 'progress').length, 3)
assert.equal(streamed.at(-1).status, 'completed')

// A browser that loses its connection in the middle, and comes back with the id of the last event.
const seen = await eventsIn(await ask('Read a thousand.'), 6)
const back = await fetch(`${url}/feed`, { headers: { 'last-event-id': seen.at(-1).id } })
const missed = eventsIn(back)
assert.deepEqual(await (await fetch(`${url}/stop`, { method: 'POST', body: '{}' })).json(), {
  turnId: seen[0].turnId,
})
assert.equal((await missed).at(-1).status, 'aborted')

// A turn that waits for a person.
const asked = await eventsIn(await ask('Send them to ann.'))
assert.equal(asked.at(-1).status, 'suspended')
assert.ok(asked.some(({ type }) => type === 'gateOpened'))

// A person decides, once.
const [gate] = await store.openGates('trip')
assert.ok(gate)
const decision = { gate: gate.id, digest: gate.digest, approve: true, args: { to: 'bob' } }
assert.deepEqual(JSON.parse(await post('gates', decision)), { status: 'completed', text: 'Sent.' })
assert.match(await post('gates', decision), /E_GATE_STATE/)

// The page is opened again.
const items = /** @type {any[]} */ (await (await fetch(url)).json())
console.log(items.map(({ role, tool, settlement }) => role ?? `${tool} ${settlement}`).join(', '))
assert.equal(items.find(({ tool }) => tool === 'crawl').result.replaceAll(/\s/g, ''), '{"pages":3}')
assert.ok(items.some(({ settlement }) => settlement === 'aborted'))
assert.equal(items.at(-1).text, 'Sent.')
// Another way, without the message to ann.
const other = await (await branch('trip', streamed.at(-1).position)).json()
const { origin, length } = (await store.conversation(other.conversation)) ?? {}
assert.deepEqual(origin, { conversation: 'trip', length })
server.closeAllConnections()
server.close()
await store.close()
rmSync(folder, { recursive: true })
