// What a kit does with a tool call that its provider did not finish, or that it cannot read exactly: the
// same bytes of OpenAI's chat protocol for every kit, over HTTP, through the client that each one uses.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createOpenAI } from '@ai-sdk/openai'
import { stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'
import { Tool, TurnRunner } from '../dist/index.js'
import { openaiChat } from '../dist/providers/openai/index.js'
import { printTable, target } from './measure.mjs'
import { ensurePeers } from './peers/ensure.mjs'

ensurePeers()
const { payWithAgents } = await import('./peers/openai-agents-chat.mjs')

const chunk = (delta, finish_reason = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})
const call = (text) =>
  chunk({
    role: 'assistant',
    tool_calls: [
      { index: 0, id: 'call_1', type: 'function', function: { name: 'pay', arguments: text } },
    ],
  })
const DONE = '[DONE]'
const whole = call('{"amount":7}')

/** Streams without a finished call; `cut` also resets the connection. */
const FAULTS = {
  'the stream ends without a finish reason': { events: [whole] },
  'the connection is cut after the call': { events: [whole], cut: true },
  'the answer was cut for length': { events: [whole, chunk({}, 'length'), DONE] },
  'a content filter stopped the answer': { events: [whole, chunk({}, 'content_filter'), DONE] },
  'the stream reports an error after the call': {
    events: [whole, { error: { message: 'overloaded', type: 'server_error' } }],
  },
  'the arguments are cut off': { events: [call('{"amount":7'), chunk({}, 'length'), DONE] },
  'the arguments name a key twice': {
    events: [call('{"amount":7,"amount":7000}'), chunk({}, 'tool_calls'), DONE],
  },
  'a number is too large to be read exactly': {
    events: [call('{"amount":9007199254740993}'), chunk({}, 'tool_calls'), DONE],
  },
}
const SOUND = { events: [whole, chunk({}, 'tool_calls'), DONE] }
const ANSWER = { events: [chunk({ role: 'assistant', content: 'Done.' }), chunk({}, 'stop'), DONE] }

/** Answers with the fault until a request holds the result of a call; then the turn may end. */
async function serve(fault) {
  const answer = (reply, body) => {
    const hasResult = JSON.parse(body).messages.some(({ role }) => role === 'tool')
    const { events, cut } = hasResult ? ANSWER : fault
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) {
      reply.write(`data: ${event === DONE ? event : JSON.stringify(event)}\n\n`)
    }
    if (cut) setTimeout(() => reply.destroy(), 20)
    else reply.end()
  }
  const server = createServer((request, reply) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece) => (body += piece))
    request.on('end', () => answer(reply, body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${server.address().port}/v1` }
}

const parameters = z.object({ amount: z.number() })
const description = 'Pays.'

/** One turn of each kit with one tool, which calls `pay` every time it runs. */
const KITS = {
  async bobbin(baseURL, pay) {
    const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
    const handler = ({ amount }) => pay(amount)
    await new TurnRunner({
      model: openaiChat({ client, model: 'm' }),
      tools: [
        new Tool({ name: 'pay', description, inputSchema: parameters, effect: 'read', handler }),
      ],
      testing: { sleep: async () => {} },
    }).run({ message: 'Pay.' })
  },
  async ai(baseURL, pay) {
    const provider = createOpenAI({ apiKey: 'k', baseURL })
    const execute = async ({ amount }) => pay(amount)
    await streamText({
      model: provider.chat('m'),
      prompt: 'Pay.',
      maxRetries: 0,
      stopWhen: stepCountIs(3),
      tools: { pay: tool({ description, inputSchema: parameters, execute }) },
      onError: () => {},
    }).consumeStream()
  },
  '@openai/agents': payWithAgents,
}

async function runsOf(kit, fault) {
  const { server, url } = await serve(fault)
  let runs = 0
  try {
    await KITS[kit](url, () => {
      runs++
      return 'paid'
    })
  } catch {
    // A kit may throw; what counts is whether the tool ran before that.
  }
  server.closeAllConnections()
  server.close()
  return runs
}

const kits = Object.keys(KITS)
const rows = []
const ran = Object.fromEntries(kits.map((kit) => [kit, 0]))
for (const kit of kits) {
  const runs = await runsOf(kit, SOUND)
  target(`${kit} runs the tool once when the call is sound`, runs === 1, `${runs} runs`)
}
for (const [name, fault] of Object.entries(FAULTS)) {
  const row = [name]
  for (const kit of kits) {
    const runs = await runsOf(kit, fault)
    if (runs > 0) ran[kit]++
    row.push(runs === 0 ? 'not run' : `ran ${runs === 1 ? 'once' : `${runs} times`}`)
  }
  rows.push(row)
}
printTable([
  ['fault', ...kits],
  ...rows,
  ['ran the tool', ...kits.map((kit) => `${ran[kit]} of ${rows.length}`)],
])
target('bobbin runs none of them', ran.bobbin === 0, `${ran.bobbin} of ${rows.length}`)
