// Reading a streamed response, previewing arguments, encoding a history. The limit for streams is
// `fetch` with eventsource-parser and `JSON.parse`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { jsonSchema, streamText, tool } from 'ai'
import { createParser } from 'eventsource-parser'
import OpenAI from 'openai'
import { anthropicMessages } from '../dist/providers/anthropic/index.js'
import { gemini, geminiInteractions } from '../dist/providers/gemini/index.js'
import { openaiChat, openaiResponses } from '../dist/providers/openai/index.js'
import { internals } from './internals.mjs'
import { compare, median, printTable, target } from './measure.mjs'

const { ArgumentPreview, ResponseGuard, frameOf, providers, streamFrames } = await internals(`
  export { frameOf } from '../src/model/event-frames.ts'
  export { ArgumentPreview } from '../src/model/events/argument-preview.ts'
  export { ResponseGuard } from '../src/model/response-guard.ts'
  export { streamFrames } from '../src/model/stream-response.ts'
  export { providers } from '../src/wire/providers.ts'
`)

const EVENTS = 10_000
const parameters = { type: 'object', properties: { text: { type: 'string' } } }

const cpu = async (act) => {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

async function drain(events, isCounted = () => true) {
  let count = 0
  for await (const event of events) if (isCounted(event)) count++
  if (count < EVENTS) throw new Error(`only ${count} events came`)
}

const items = [{ type: 'message', role: 'user', parts: [{ type: 'text', text: 'go' }] }]
const tools = [{ name: 'write', description: 'Writes.', inputSchema: parameters }]
const asked = [{ role: 'user', content: 'go' }]

/** The same bytes read with the parser and `JSON.parse` alone. */
async function readAlone(url) {
  const { body } = await fetch(url, { method: 'POST', body: '{}' })
  const decoder = new TextDecoder()
  let count = 0
  const onEvent = ({ data }) => {
    if (data !== '[DONE]') count += JSON.parse(data) ? 1 : 0
  }
  const parser = createParser({ onEvent })
  for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }))
  if (count < EVENTS) throw new Error(`only ${count} events came`)
}

function throughAi(model) {
  const write = tool({ inputSchema: jsonSchema(parameters) })
  return drain(streamText({ model, prompt: 'go', tools: { write } }).fullStream)
}

/** For each protocol: our model, the iteration of its SDK, and `ai` where its provider is here. */
const protocols = {
  responses: (baseURL) => {
    const client = new OpenAI({ apiKey: 'x', baseURL })
    const model = openaiResponses({ client, model: 'm' })
    const peer = createOpenAI({ apiKey: 'x', baseURL })
    return {
      bobbin: () => drain(model.stream({ items, tools })),
      SDK: async () =>
        drain(await client.responses.create({ model: 'm', input: 'go', stream: true })),
      ai: () => throughAi(peer('m')),
    }
  },
  chat: (baseURL) => {
    const client = new OpenAI({ apiKey: 'x', baseURL })
    const model = openaiChat({ client, model: 'm' })
    const peer = createOpenAI({ apiKey: 'x', baseURL })
    return {
      bobbin: () => drain(model.stream({ items, tools })),
      SDK: async () => {
        const body = { model: 'm', messages: asked, stream: true }
        return drain(await client.chat.completions.create(body))
      },
      ai: () => throughAi(peer.chat('m')),
    }
  },
  anthropic: (baseURL) => {
    const client = new Anthropic({ apiKey: 'x', baseURL })
    const model = anthropicMessages({ client, model: 'm' })
    return {
      bobbin: () => drain(model.stream({ items, tools })),
      SDK: async () => {
        const body = { model: 'm', max_tokens: 99, messages: asked, stream: true }
        return drain(await client.messages.create(body))
      },
    }
  },
  gemini: (baseUrl) => {
    const client = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl } })
    const model = gemini({ client, model: 'm' })
    return {
      bobbin: () => drain(model.stream({ items, tools })),
      SDK: async () =>
        drain(await client.models.generateContentStream({ model: 'm', contents: 'go' })),
    }
  },
  'gemini with a key': (baseUrl) => {
    const client = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl } })
    const model = gemini({ apiKey: 'x', baseUrl, model: 'm' })
    return {
      bobbin: () => drain(model.stream({ items, tools })),
      SDK: async () =>
        drain(await client.models.generateContentStream({ model: 'm', contents: 'go' })),
    }
  },
  interactions: (baseUrl) => {
    const client = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl } })
    const model = geminiInteractions({ apiKey: 'x', baseUrl, model: 'm' })
    return {
      bobbin: () => drain(model.stream({ items, tools })),
      SDK: async () =>
        drain(await client.interactions.create({ model: 'm', input: 'go', stream: true })),
    }
  },
}

/** CPU time per event and its ratio to the limit, from rounds in which the contenders take turns. */
async function rounds(contenders, count) {
  const names = Object.keys(contenders)
  const samples = Object.fromEntries(names.map((name) => [name, []]))
  // Enough for the compiler to have seen all of it.
  for (const name of names) for (let i = 0; i < 5; i++) await contenders[name]()
  for (let round = 0; round < count; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length]
      samples[name].push((await cpu(contenders[name])) / EVENTS)
    }
  }
  const ratio = (name) => median(samples[name].map((time, i) => time / samples.limit[i]))
  return {
    limit: median(samples.limit),
    ratios: Object.fromEntries(names.map((n) => [n, ratio(n)])),
  }
}

const STREAMS = [
  ['responses', 'text'],
  ['responses', 'arguments'],
  ['chat', 'text'],
  ['chat', 'arguments'],
  ['anthropic', 'text'],
  ['anthropic', 'arguments'],
  ['gemini', 'text'],
  ['gemini with a key', 'text'],
  ['interactions', 'text'],
  ['interactions', 'arguments'],
]

async function streams(port) {
  const table = [['10,000 events', 'limit µs', 'bobbin', 'SDK', 'ai']]
  for (const [protocol, kind] of STREAMS) {
    const name = `${protocol} ${kind}`
    const [path] = protocol.split(' ')
    const url = `http://127.0.0.1:${port}/${path}/${kind}`
    const { ai, ...others } = { limit: () => readAlone(url), ...protocols[protocol](url) }
    const { limit, ratios } = await rounds(others, protocol === 'gemini' ? 5 : 15)
    // `ai` leaves so much garbage that it would slow the next subject: it has its own rounds.
    const slow = ai && (await rounds({ limit: others.limit, ai }, 3))
    const { bobbin: own, SDK } = ratios
    const cells = [own, SDK, slow?.ratios.ai].map((time) => time?.toFixed(2) ?? '')
    table.push([name, limit.toFixed(2), ...cells])
    if (protocol === 'gemini') {
      // This SDK gives no way to the bytes: what we add to its own iteration is all that is ours.
      const added = own / SDK
      target(`${name}: at most 1.5 times its SDK's iteration`, added <= 1.5, added.toFixed(2))
      continue
    }
    target(`${name}: at most 1.5 times the limit`, own <= 1.5, own.toFixed(2))
    target(`${name}: ahead of the SDK`, own < SDK, `${own.toFixed(2)} < ${SDK.toFixed(2)}`)
    if (slow !== undefined) {
      const { ai: peer } = slow.ratios
      target(`${name}: ahead of ai`, own < peer, `${own.toFixed(2)} < ${peer.toFixed(2)}`)
    }
  }
  console.log(
    '\nA streamed response over loopback: CPU time per event, as a multiple of the limit\n',
  )
  printTable(table)
}

/** A response of Bedrock as its client has parsed it: 10,000 pieces of a text, or of arguments. */
function converseEvents(kind) {
  const words = Array.from({ length: EVENTS }, (_, i) => ` word${i % 100}`)
  const use = { toolUse: { toolUseId: 'tooluse_1', name: 'write' } }
  const at = { contentBlockIndex: 0 }
  const piece = (text) => (kind === 'text' ? { text } : { toolUse: { input: text } })
  const pieces = kind === 'text' ? words : ['{"text":"', ...words, '"}']
  return [
    { messageStart: { role: 'assistant' } },
    ...(kind === 'text' ? [] : [{ contentBlockStart: { start: use, ...at } }]),
    ...pieces.map((text) => ({ contentBlockDelta: { delta: piece(text), ...at } })),
    { contentBlockStop: at },
    { messageStop: { stopReason: kind === 'text' ? 'end_turn' : 'tool_use' } },
    { metadata: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
  ]
}

/** What is ours of a response of Bedrock. The limit is `JSON.parse` of its events. */
async function bedrock() {
  const definition = providers.find(({ api }) => api === 'bedrock-converse')
  const context = { mint: () => 'minted' }
  const table = [['10,000 events', 'limit µs', 'parsed', 'parsed, counted', 'bytes']]
  for (const kind of ['text', 'arguments']) {
    const events = converseEvents(kind)
    const texts = events.map((event) => JSON.stringify(event))
    const frames = events.flatMap((event) =>
      Object.entries(event).map(([name, body]) => frameOf({ name, data: JSON.stringify(body) })),
    )
    // As the network gives them: many to a chunk.
    const chunks = Array.from({ length: Math.ceil(frames.length / 100) }, (_, i) =>
      Buffer.concat(frames.slice(i * 100, i * 100 + 100)),
    )
    const decoded = (read) => {
      const decoder = definition.decodeStream(context)
      let count = 0
      for (const event of events) count += decoder.push(read(event)).length
      if (count < EVENTS) throw new Error(`only ${count} events came`)
    }
    const { limit, ratios } = await rounds(
      {
        limit: async () => {
          for (const text of texts) JSON.parse(text)
        },
        parsed: async () => decoded((event) => event),
        counted: async () => {
          const guard = new ResponseGuard(definition.api)
          decoded((event) => guard.parsed(event))
        },
        bytes: async () => {
          const guard = new ResponseGuard(definition.api)
          const source = (async function* () {
            yield* chunks
          })()
          let count = 0
          for await (const batch of streamFrames(source, definition.decodeStream(context), guard)) {
            count += batch.length
          }
          if (count < EVENTS) throw new Error(`only ${count} events came`)
        },
      },
      15,
    )
    const { parsed, counted, bytes } = ratios
    const cells = [parsed, counted, bytes].map((time) => time.toFixed(2))
    table.push([`bedrock ${kind}`, limit.toFixed(2), ...cells])
    const name = `bedrock ${kind}: our share of parsed events at most 1.5 times JSON.parse`
    target(name, counted <= 1.5, counted.toFixed(2))
  }
  console.log('\nA response of Bedrock: CPU time per event, as a multiple of `JSON.parse`\n')
  printTable(table)
}

function deltasOf(rows) {
  const row = (id) => ({
    id,
    name: `user ${id}`,
    tags: ['a', 'b', { deep: { deeper: [1, 2, 3, 'with "quotes"'] } }],
    note: 'lorem ipsum dolor sit amet '.repeat(3),
  })
  return JSON.stringify({ rows: Array.from({ length: rows }, (_, id) => row(id)) }).match(
    /.{1,10}/g,
  )
}

function previews() {
  const read = (deltas) => () => {
    const preview = new ArgumentPreview()
    for (const delta of deltas) preview.push(delta)
  }
  const [short, long] = [deltasOf(200), deltasOf(2000)]
  // In turns, so that noise hits both lengths alike.
  const found = compare({ short: read(short), long: read(long) }, 'short')
  const perDelta = found.short.microseconds / short.length
  const growth = (found.long.ratio * short.length) / long.length
  const bytes = (deltas) => `${Math.round(deltas.join('').length / 1000)} KB`
  console.log(`\nArgument preview: ${bytes(short)} in ${short.length} deltas\n`)
  target('preview: at most 3 µs per delta', perDelta <= 3, `${perDelta.toFixed(2)} µs`)
  const detail = `${growth.toFixed(2)} times as much at ${bytes(long)}`
  target('preview: flat in length', growth <= 1.5, detail)
}

/** Calls with their results, two to a response; every second response was made by this provider. */
function historyOf(calls, api) {
  return Array.from({ length: calls }, (_, i) => ({
    type: 'call',
    id: `call_${i}`,
    tool: 'search',
    args: { query: `what happened at ${i}`, limit: 10 },
    executedBy: 'runner',
    response: `r${i >> 1}`,
    wire: {
      provider: 'p',
      api: i & 2 ? api : 'elsewhere',
      type: 'call',
      callId: `call_${i}`,
      origin: 'natural',
    },
    result: { isError: false, parts: [{ type: 'text', text: `line ${i}\n`.repeat(20) }] },
  }))
}

function encoding() {
  const table = [['protocol', '100 items µs each', '1,000 items µs each', 'growth']]
  for (const adapter of providers) {
    const step = (history) => () => JSON.stringify(adapter.encode(history))
    const [some, many] = [historyOf(100, adapter.api), historyOf(1000, adapter.api)]
    const found = compare({ some: step(some), many: step(many) }, 'some')
    const each = { some: found.some.microseconds / 100, many: found.many.microseconds / 1000 }
    const growth = found.many.ratio / 10
    table.push([adapter.api, ...[each.some, each.many, growth].map((time) => time.toFixed(2))])
    const most = Math.max(each.some, each.many)
    target(`${adapter.api}: at most 10 µs per item`, most <= 10, `${most.toFixed(2)} µs`)
  }
  console.log('\nA step: the whole history is encoded and written with `JSON.stringify`\n')
  printTable(table)
}

// All of it, or the parts named: `node providers.bench.mjs encoding`.
const wanted = process.argv.slice(2)
const isWanted = (part) => wanted.length === 0 || wanted.includes(part)

if (isWanted('streams')) {
  const server = fork(new URL('sse-server.mjs', import.meta.url))
  try {
    const [port] = await once(server, 'message')
    await streams(port)
  } finally {
    server.disconnect()
  }
}
if (isWanted('bedrock')) await bedrock()
if (isWanted('previews')) previews()
if (isWanted('encoding')) encoding()
