// An MCP server wants a person to sign in: the call waits as a gate, the callback route finishes, and the call is made.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { Tool, TurnRunner } from 'bobbin-adk'
import { mcpClient, mcpOAuth, mcpServer, mcpTools } from 'bobbin-adk/mcp'
import { scriptedModel } from 'bobbin-adk/testing'

// Stands for the server and its authorization server, which agrees to every sign-in.
const orders = new Tool({
  name: 'orders',
  description: 'Lists the orders of the person.',
  inputSchema: { type: 'object' },
  effect: 'read',
  handler: () => ['a bobbin'],
})
const shop = mcpServer({ name: 'shop', tools: [orders] })
/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function respond(request, response) {
  const { origin, pathname, searchParams } = new URL(
    request.url ?? '/',
    `http://${request.headers.host}`,
  )
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const json = (/** @type {unknown} */ value, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  switch (pathname) {
    case '/.well-known/oauth-authorization-server':
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      })
    case '/register':
      return json({ ...JSON.parse(body), client_id: 'app' }, 201)
    case '/authorize': {
      const location = `${searchParams.get('redirect_uri')}?code=c&state=${searchParams.get('state')}`
      return response.writeHead(302, { location }).end()
    }
    case '/token':
      return json({ access_token: 'token-of-ann', token_type: 'Bearer' })
    case '/mcp': {
      const isKnown = request.headers.authorization === 'Bearer token-of-ann'
      if (body.includes('"tools/call"') && !isKnown) return json({}, 401)
      const headers = /** @type {Record<string, string>} */ (request.headers)
      const init = { method: request.method ?? 'GET', headers, ...(body !== '' && { body }) }
      const answer = await shop.handle(new Request(`${origin}/mcp`, init))
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      return response.end(await answer.text())
    }
    default:
      return json({}, 404)
  }
}
const http = createServer((request, response) => void respond(request, response))
await new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(undefined)))
const address = http.address()
assert.ok(address !== null && typeof address === 'object')
const url = `http://127.0.0.1:${address.port}/mcp`
const redirectUrl = 'http://127.0.0.1:3000/callback'

// #region open
// One storage for each person: a `Map` here, a table of yours in earnest.
const storage = new Map()
const oauth = mcpOAuth({ url, redirectUrl, storage, clientName: 'My agent' })
const tools = await mcpTools(mcpClient({ url }, { authProvider: oauth }))
// #endregion open

const model = scriptedModel([[{ call: 'orders' }], [{ text: 'You ordered a bobbin.' }]])
const runner = new TurnRunner({ model, tools: () => tools })

// #region gate
const waiting = await runner.run({ message: 'What did I order?' })
const [gate] = waiting.gates // Show the person `gate.message`, and `gate.url` as a link.
// #endregion gate
assert.ok(gate?.url)

/** What the browser does. */
const callbackUrl = (await fetch(gate.url, { redirect: 'manual' })).headers.get('location') ?? ''

// #region finish
// In the route of `redirectUrl`, with the storage of the same person:
await oauth.finish(callbackUrl)
const outcome = await runner.resume({
  conversation: waiting.conversation,
  decisions: [{ gate: gate.id, decidedBy: 'ann', done: true }],
})
// #endregion finish

assert.equal(outcome.text, 'You ordered a bobbin.')
assert.equal(outcome.toolCalls[0]?.settlement, 'ok')
await tools.close()
await shop.close()
http.closeAllConnections()
http.close()
console.log('mcp-sign-in: all as expected')
