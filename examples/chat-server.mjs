// A chat server: turns streamed to a browser, kept in a file, stopped when the browser leaves, and decided by
// another request. The client at the end stands in for the browser.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { isBobbinError, resultText, SpooledArtifact, Tool, ToolCall, TurnRunner } from 'bobbin-adk'
import { sqliteStore } from 'bobbin-adk/sqlite'
import { storedResults } from 'bobbin-adk/store'
import { scriptedModel } from 'bobbin-adk/testing'
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
      signal.throwIfAborted() // the browser has left
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
/** @param {import('node:http').ServerResponse} res @param {string} conversation @param {string} message */
async function streamTurn(res, conversation, message) {
  const abort = new AbortController()
  res.on('close', () => abort.abort()) // a client that leaves ends the turn; after its end this does nothing
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  // One queue for everything, so that the page gets it in the order in which it happened.
  let told = Promise.resolve()
  /** @param {string} event @param {unknown} data a value, or a promise of one */
  const tell = (event, data) => {
    told = Promise.all([data, told])
      .then(([value]) => void res.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`))
      .catch(() => void res.destroy()) // a result that cannot be read ends the stream
  }
  // One runner serves all conversations, so that a listener looks where an event comes from.
  /** @param {{ conversation: string }} origin */
  const isHere = (origin) => origin.conversation === conversation
  const stops = [
    runner.on('message', (text, origin) => isHere(origin) && tell('text', text)),
    runner.on('toolCall', (call, origin) => isHere(origin) && tell('call', shown(call))),
    runner.observe('toolProgress', (step, origin) => isHere(origin) && tell('progress', step)),
    runner.observe('gateOpened', (gate, origin) => isHere(origin) && tell('gate', gate)),
  ]
  try {
    const outcome = await runner.run({ conversation, message, signal: abort.signal })
    tell('end', { status: outcome.status, reason: outcome.reason, gates: outcome.gates })
  } catch (error) {
    // Only what cannot even begin is thrown; everything else is an outcome.
    const isBusy = isBobbinError(error, 'E_CONVERSATION_BUSY')
    tell('end', { status: isBusy ? 'busy' : 'failed' })
  } finally {
    for (const stop of stops) stop()
    await told
    res.end()
  }
}
// #endregion turn

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

// #region decide
/** A person decides in another request, perhaps in another process. @param {import('bobbin-adk').GateAnswer} answer */
async function decide(/** @type {string} */ conversation, answer) {
  try {
    const outcome = await runner.resume({ conversation, decisions: [answer] })
    return { code: 200, body: { status: outcome.status, text: outcome.text } }
  } catch (error) {
    if (!isBobbinError(error)) throw error
    // Decided already, expired, about something else, or arguments that do not fit: nothing was decided.
    return { code: 409, body: { error: error.code, message: error.message } }
  }
}
// #endregion decide

const server = createServer((req, res) => {
  respond(req, res).catch(() => res.destroy())
})
/** @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res */
async function respond(req, res) {
  const [, conversation = '', what] = (req.url ?? '').split('/')
  if (req.method === 'GET') {
    res.end(JSON.stringify(await history(conversation)))
    return
  }
  const body = /** @type {any} */ (await json(req))
  if (what === 'turns') {
    await streamTurn(res, conversation, body.message)
    return
  }
  // Who asks is for your own sign-in to say, never for the body.
  const decided = await decide(conversation, { ...body, decidedBy: 'bob' })
  res.writeHead(decided.code).end(JSON.stringify(decided.body))
}
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
const url = `http://127.0.0.1:${port}/trip`
/** @param {string} path @param {object} body */
const post = async (path, body) =>
  (await fetch(`${url}/${path}`, { method: 'POST', body: JSON.stringify(body) })).text()

// A turn, streamed.
const streamed = await post('turns', { message: 'Read three pages.' })
const names = Array.from(streamed.matchAll(/^event: (\w+)$/gm), ([, name]) => name)
assert.deepEqual(names, [
  ...['call', 'progress', 'progress', 'progress', 'call'],
  ...['text', 'end'],
])
assert.match(streamed, /"status":"completed"/)

// A browser that leaves in the middle.
const leaving = httpRequest(`${url}/turns`, { method: 'POST' })
leaving.on('error', () => {})
leaving.end(JSON.stringify({ message: 'Read a thousand.' }))
const [reply] = await once(leaving, 'response')
for await (const chunk of reply) if (`${chunk}`.includes('progress')) break
leaving.destroy()

// The next request comes at once: the turn before it may take a moment to settle what it began.
let asked = ''
for (let attempt = 0; attempt < 100 && !asked.includes('"suspended"'); attempt++) {
  asked = await post('turns', { message: 'Send them to ann.' })
  if (asked.includes('"busy"')) await new Promise((resolve) => setTimeout(resolve, 20))
}
assert.match(asked, /"status":"suspended"/)
const askedNames = Array.from(asked.matchAll(/^event: (\w+)$/gm), ([, name]) => name)
assert.deepEqual(askedNames, ['call', 'gate', 'end'])

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
server.closeAllConnections()
server.close()
await store.close()
rmSync(folder, { recursive: true })
