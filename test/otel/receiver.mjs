// An OTLP receiver over HTTP in a process of its own. It prints its address; `GET /received` gives what came. With the
// argument `hangs` it takes everything and never answers; with `refuses-first` it refuses the first request.
import { createServer } from 'node:http'

const MAX_BYTES = 4 * 1024 * 1024
/** @type {{ path: string, type: string, body: string }[]} */
const received = []

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function answer(request, response) {
  if (request.method === 'GET') {
    response.end(JSON.stringify(received))
    return
  }
  /** @type {Buffer[]} */
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BYTES) {
      response.writeHead(413).end()
      return
    }
    chunks.push(chunk)
  }
  const type = request.headers['content-type'] ?? ''
  received.push({ path: request.url ?? '', type, body: Buffer.concat(chunks).toString('utf8') })
  const [, , mode] = process.argv
  if (mode === 'hangs') return
  if (mode === 'refuses-first' && received.length === 1) {
    response.writeHead(400).end()
    return
  }
  const isJson = type.startsWith('application/json')
  response.writeHead(200, { 'content-type': type }).end(isJson ? '{}' : '')
}

const server = createServer((request, response) => void answer(request, response))
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
