// A server process that speaks the Chat Completions API and writes each delta of a text by itself. The path says how
// long it waits between two writes, in milliseconds, and how many deltas an answer has: `/20/250`. A delta is the time at
// which it was written. If the request has tools and no results yet, two calls follow the text.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { microseconds } from './clock.mjs'

const chunk = { id: 'chatcmpl_1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const frame = (delta, reason = null) => {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: reason }]
  return `data: ${JSON.stringify({ ...chunk, choices })}\n\n`
}
const call = (index) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify({ at: index }) },
})

async function answer(request, reply) {
  const parts = []
  for await (const part of request) parts.push(part)
  const { messages, tools = [] } = JSON.parse(Buffer.concat(parts).toString('utf8'))
  const asksForCalls = tools.length > 0 && messages.every(({ role }) => role !== 'tool')
  const [pause, deltas] = request.url.split('/').slice(1, 3).map(Number)
  // The next write waits until this one has left, so that each delta is a read of its own.
  const write = (text) => new Promise((resolve) => void reply.write(text, resolve))
  reply.writeHead(200, { 'content-type': 'text/event-stream' })
  await write(frame({ role: 'assistant', content: '' }))
  for (let i = 0; i < deltas && !reply.destroyed; i++) {
    if (pause > 0) await sleep(pause)
    await write(frame({ content: ` ${microseconds()}` }))
  }
  if (asksForCalls) await write(frame({ tool_calls: [call(0), call(1)] }))
  await write(frame({}, asksForCalls ? 'tool_calls' : 'stop'))
  reply.end('data: [DONE]\n\n')
}

const server = createServer((request, reply) => {
  answer(request, reply).catch(() => reply.destroy())
})
server.keepAliveTimeout = 600_000
server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () => {
  process.send(`http://127.0.0.1:${server.address().port}`)
})
process.on('disconnect', () => process.exit())
