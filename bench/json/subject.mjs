// One parser in a process of its own: counts the members of a document at its first level.
import { internals } from '../internals.mjs'

const [, , subject, document, bytes] = process.argv
const CHUNK = 64 * 1024

/** Each gives a function that takes a chunk, and one that gives the count at the end. */
const PARSERS = {
  async bobbin() {
    const { JsonScanner } = await internals(
      `export { JsonScanner } from './src/artifacts/json/json-scanner.ts'`,
    )
    const scanner = new JsonScanner({ begin: () => 'skip', end: () => 'continue' }, { byte: 0 })
    return { write: (chunk) => scanner.write(chunk), items: () => scanner.count }
  },

  async '@streamparser/json'() {
    const { Tokenizer, TokenType } = await import('@streamparser/json')
    const tokenizer = new Tokenizer({ stringBufferSize: CHUNK, numberBufferSize: 64 })
    const count = counter()
    const { LEFT_BRACE, LEFT_BRACKET, RIGHT_BRACE, RIGHT_BRACKET, COMMA } = TokenType
    tokenizer.onToken = ({ token }) => {
      if (token === LEFT_BRACE || token === LEFT_BRACKET) count.open()
      else if (token === RIGHT_BRACE || token === RIGHT_BRACKET) count.close()
      else if (token === COMMA) count.comma()
    }
    return { write: (chunk) => tokenizer.write(chunk), items: count.items }
  },

  async 'stream-json'() {
    const { jsonParser } = await import('stream-json/core/parser.js')
    // The parser without streams around it, which are ten times slower; strings go by in parts.
    const parse = jsonParser({ packValues: false })
    const decoder = new TextDecoder()
    const OPEN = new Set(['startObject', 'startArray'])
    const CLOSE = new Set(['endObject', 'endArray'])
    const SCALAR = new Set(['startString', 'startNumber', 'nullValue', 'trueValue', 'falseValue'])
    let [depth, items] = [0, 0]
    return {
      write(chunk) {
        for (const { name } of parse(decoder.decode(chunk, { stream: true })).values ?? []) {
          if (depth === 1 && (OPEN.has(name) || SCALAR.has(name))) items++
          if (OPEN.has(name)) depth++
          else if (CLOSE.has(name)) depth--
        }
      },
      items: () => items,
    }
  },

  async jsonriver() {
    const { parse } = await import('jsonriver')
    const { readable, writable } = new TextDecoderStream()
    const writer = writable.getWriter()
    let value
    const done = (async () => {
      for await (const partial of parse(readable)) value = partial
    })()
    return {
      write: (chunk) => writer.write(chunk),
      async items() {
        await writer.close()
        await done
        return Object.keys(value).length
      },
    }
  },

  async 'JSON.parse'() {
    const chunks = []
    return {
      write: (chunk) => chunks.push(chunk.slice()),
      items: () => Object.keys(JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)))).length,
    }
  },
}

function counter() {
  let [depth, commas, any] = [0, 0, false]
  return {
    open() {
      if (depth++ === 1) any = true
    },
    close: () => depth--,
    comma() {
      if (depth === 1) commas++
    },
    items: () => commas + (any || commas > 0 ? 1 : 0),
  }
}

function* documentBytes() {
  const encoder = new TextEncoder()
  const total = Number(bytes)
  if (document === 'string') {
    yield encoder.encode('{"big":"')
    for (let at = 0; at < total; at += CHUNK) yield new Uint8Array(CHUNK).fill(120)
    yield encoder.encode('","after":[1]}')
    return
  }
  if (document === 'numbers') {
    yield encoder.encode('[1')
    const numbers = encoder.encode(',1'.repeat(CHUNK / 2))
    for (let at = 0; at < total; at += CHUNK) yield numbers
    yield encoder.encode(']')
    return
  }
  let text = '['
  for (let id = 0, size = 0; size < total; id++) {
    const item = { id, name: `user ${id}`, tags: ['a', 'b', String(id % 7)] }
    const more = JSON.stringify({
      ...item,
      nested: { score: id / 4, note: 'text with "quotes" and ünïcode' },
    })
    text += (id === 0 ? '' : ',') + more
    size += more.length
    if (text.length < CHUNK) continue
    yield encoder.encode(text)
    text = ''
  }
  yield encoder.encode(`${text}]`)
}

const chunks = [...documentBytes()]
const { write, items } = await PARSERS[subject]()
const start = process.memoryUsage().rss
let peak = start
let stall = 0
let last = performance.now()
const turn = () => {
  stall = Math.max(stall, performance.now() - last)
  peak = Math.max(peak, process.memoryUsage().rss)
  return new Promise((resolve) => {
    setImmediate(() => {
      last = performance.now()
      resolve()
    })
  })
}
const begun = process.cpuUsage()
for (const chunk of chunks) {
  await write(chunk)
  await turn()
}
const counted = await items()
await turn()
const { user, system } = process.cpuUsage(begun)
const ms = (user + system) / 1_000
console.log(JSON.stringify({ ms, stall, megabytes: (peak - start) / 1e6, items: counted }))
