// Reading a streamed response, previewing arguments, encoding a history. The limit for streams is
// `fetch` with eventsource-parser and `JSON.parse`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema, streamText, tool } from 'ai'
import { createParser } from 'eventsource-parser'
import OpenAI from 'openai'
import { openaiResponses } from '../dist/providers/openai/index.js'
import { internals } from './internals.mjs'
import { compare, printTable, target } from './measure.mjs'

const { ArgumentPreview, adapters } = await internals(`
  export { ArgumentPreview } from './src/model/argument-preview.ts'
  export { adapters } from './src/wire/adapters.ts'
`)

const EVENTS = 10_000
const parameters = { type: 'object', properties: { text: { type: 'string' } } }

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
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

function contendersAt(baseURL) {
  const client = new OpenAI({ apiKey: 'x', baseURL })
  const model = openaiResponses({ client, model: 'm' })
  const items = [{ type: 'message', role: 'user', parts: [{ type: 'text', text: 'go' }] }]
  const tools = [{ name: 'write', description: 'Writes.', inputSchema: parameters }]
  const peer = createOpenAI({ apiKey: 'x', baseURL })
  return {
    limit: async () => {
      const { body } = await fetch(`${baseURL}/responses`, { method: 'POST', body: '{}' })
      const decoder = new TextDecoder()
      let count = 0
      const parser = createParser({ onEvent: ({ data }) => (count += JSON.parse(data) ? 1 : 0) })
      for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }))
      if (count < EVENTS) throw new Error(`only ${count} events came`)
    },
    bobbin: () => drain(model.stream({ items, tools })),
    'openai SDK': async () =>
      drain(await client.responses.create({ model: 'm', input: 'go', stream: true })),
    ai: () =>
      drain(
        streamText({
          model: peer('m'),
          prompt: 'go',
          tools: { write: tool({ inputSchema: jsonSchema(parameters) }) },
        }).fullStream,
      ),
  }
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

async function streams(port) {
  const table = [['10,000 events', 'limit µs', 'bobbin', 'openai SDK', 'ai']]
  for (const kind of ['text', 'arguments']) {
    const { ai, ...others } = contendersAt(`http://127.0.0.1:${port}/${kind}`)
    const { limit, ratios } = await rounds(others, 25)
    // `ai` leaves so much garbage that it would slow whoever comes next: it has its own rounds.
    const slow = await rounds({ limit: others.limit, ai }, 5)
    const { bobbin: own, ...peers } = { ...ratios, ai: slow.ratios.ai }
    const { limit: _, ...times } = { ...peers }
    const cells = [own, ...Object.values(times)].map((time) => time.toFixed(2))
    table.push([kind, limit.toFixed(2), ...cells])
    target(`${kind}: at most 1.5 times the limit`, own <= 1.5, own.toFixed(2))
    for (const [name, time] of Object.entries(times)) {
      target(`${kind}: ahead of ${name}`, own < time, `${own.toFixed(2)} < ${time.toFixed(2)}`)
    }
  }
  console.log(
    '\nA streamed response over loopback: CPU time per event, as a multiple of the limit\n',
  )
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
  const perDelta = (deltas) => {
    const subjects = {
      preview: () => {
        const preview = new ArgumentPreview()
        for (const delta of deltas) preview.push(delta)
      },
    }
    return compare(subjects, 'preview').preview.microseconds / deltas.length
  }
  const [small, large] = [deltasOf(200), deltasOf(2000)]
  const [atSmall, atLarge] = [perDelta(small), perDelta(large)]
  const bytes = (deltas) => `${Math.round(deltas.join('').length / 1000)} KB`
  console.log(`\nArgument preview: ${bytes(small)} in ${small.length} deltas\n`)
  target('preview: at most 3 µs per delta', atSmall <= 3, `${atSmall.toFixed(2)} µs`)
  const growth = `${atLarge.toFixed(2)} µs at ${bytes(large)}`
  target('preview: flat in length', atLarge <= atSmall * 1.5, growth)
}

/** A history of this many calls, two to a response, as it looks to a provider that made none of them. */
function historyOf(calls) {
  return Array.from({ length: calls }, (_, i) => ({
    type: 'call',
    id: `call_${i}`,
    tool: 'search',
    args: { query: `what happened at ${i}`, limit: 10 },
    executedBy: 'runner',
    response: `r${i >> 1}`,
    wire: { provider: 'p', api: 'elsewhere', type: 'call', callId: `call_${i}`, origin: 'natural' },
    result: { isError: false, parts: [{ type: 'text', text: `line ${i}\n`.repeat(20) }] },
  }))
}

function encoding() {
  const table = [['protocol', '100 calls µs', '1,000 calls µs', 'append at 10 µs', 'at 1,000 µs']]
  const [short, long] = [historyOf(100), historyOf(1000)]
  for (const adapter of adapters) {
    const encode = (items) => () => {
      const encoder = adapter.encoder()
      for (const item of items) encoder.push(item)
      return encoder.part()
    }
    const whole = compare({ short: encode(short), long: encode(long) }, 'short')
    const append = compare({ short: appender(adapter, 10), long: appender(adapter, 1000) }, 'short')
    const times = [whole.short, whole.long, append.short, append.long]
    table.push([adapter.api, ...times.map(({ microseconds }) => microseconds.toFixed(1))])
    target(
      `${adapter.api}: linear`,
      whole.long.ratio <= 13,
      `${whole.long.ratio.toFixed(1)} for 10`,
    )
    target(`${adapter.api}: append flat`, append.long.ratio <= 1.5, append.long.ratio.toFixed(2))
  }
  console.log('\nEncoding a history\n')
  printTable(table)
}

/** Appends one call to an encoded history that is kept at about this length. */
function appender(adapter, calls) {
  const items = historyOf(calls * 2)
  let encoder
  let at = Number.POSITIVE_INFINITY
  return () => {
    if (at >= items.length) {
      encoder = adapter.encoder()
      for (const item of items.slice(0, calls)) encoder.push(item)
      at = calls
    }
    encoder.push(items[at++])
  }
}

const server = fork(new URL('sse-server.mjs', import.meta.url))
try {
  const [port] = await once(server, 'message')
  await streams(port)
  previews()
  encoding()
} finally {
  server.disconnect()
}
