// An HTTP endpoint that streams a turn as server-sent events, and a client that reads it.
import assert from 'node:assert/strict'
import { serve } from '@hono/node-server'
import { Tool, TurnRunner } from 'bobbin-adk'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { z } from 'zod'

const clock = new Tool({
  name: 'time_in',
  description: 'Tells the time in a city.',
  inputSchema: z.object({ city: z.string() }),
  effect: 'read',
  handler: ({ city }) => `It is noon in ${city}.`,
})
const runner = new TurnRunner({
  tools: [clock],
  executor: async ({ iteration }, helpers) => {
    if (iteration === 1) return { calls: [{ tool: 'time_in', args: { city: 'Oslo' } }] }
    for (const delta of ['It is ', 'noon.']) helpers.message({ id: 'answer', delta })
    return { answer: 'It is noon.' }
  },
})

// #region endpoint
const app = new Hono()
app.post('/turns', async (c) => {
  const { message } = await c.req.json()
  return streamSSE(c, async (sse) => {
    const abort = new AbortController()
    sse.onAbort(() => abort.abort()) // a client that leaves ends the turn
    const turn = runner.stream({ message, signal: abort.signal })
    for await (const { type, ...content } of turn) {
      await sse.writeSSE({ event: type, data: JSON.stringify(content) })
    }
    const { status, text, conversation } = await turn.outcome
    await sse.writeSSE({ event: 'outcome', data: JSON.stringify({ status, text, conversation }) })
  })
})
// #endregion endpoint

/** @type {{ port: number, server: import('@hono/node-server').ServerType }} */
const { port, server } = await new Promise((resolve) => {
  const node = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (address) =>
    resolve({ ...address, server: node }),
  )
})
const response = await fetch(`http://127.0.0.1:${port}/turns`, {
  method: 'POST',
  body: JSON.stringify({ message: 'What time is it in Oslo?' }),
})
assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
const body = await response.text()
const events = Array.from(body.matchAll(/^event: (\w+)$/gm), ([, name]) => name)
assert.deepEqual(events, [
  ...['turnStart', 'message', 'toolCall', 'toolCall'],
  ...['message', 'message', 'message', 'turnEnd', 'outcome'],
])
assert.match(body, /"isComplete":true/)
assert.match(body, /"status":"completed","text":"It is noon\."/)
await new Promise((resolve) => server.close(resolve))
console.log(`A turn over HTTP: ${events.join(', ')}.`)
