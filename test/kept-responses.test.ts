import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openaiResponses } from '../src/providers/openai/index.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { Store } from '../src/store/store.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { bundledProcess } from './crash/bundled-process.ts'
import type { KeptTask } from './crash/kept-process.ts'
import { storeAt } from './crash/store-at.ts'

/** What becomes of a stream that a request began: it goes on for ever, or breaks off. */
type Fate = 'hangs' | 'breaks'

const text = (delta: string) => ({ type: 'response.output_text.delta', output_index: 0, delta })
const item = {
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  content: [{ type: 'output_text', text: 'All of it.' }],
}
const usage = { input_tokens: 5, output_tokens: 3 }

/** A server that makes responses in the background and keeps them, as OpenAI's does. */
async function background(fate: Fate, isKept = true) {
  const asked: string[] = []
  const begin = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const created = { id: 'resp_1', status: 'in_progress', background: true }
    write(response, { type: 'response.created', response: created })
  }
  const write = (
    response: ServerResponse,
    event: { readonly type: string; readonly [name: string]: unknown },
  ) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume()
    const isFirst = request.method === 'POST' && asked.length === 1
    if (request.method === 'GET' && !isKept) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'Response not found.' } }))
      return
    }
    begin(response)
    if (!isFirst) {
      write(response, text('All of it.'))
      write(response, { type: 'response.output_item.done', output_index: 0, item })
      const done = { id: 'resp_1', status: 'completed', output: [item], usage }
      write(response, { type: 'response.completed', response: done })
      response.end()
      return
    }
    const timer = setInterval(() => write(response, text('A')), 5)
    response.on('close', () => clearInterval(timer))
    if (fate === 'breaks') setTimeout(() => response.destroy(), 50)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, asked }
}

function runnerOn(store: Store, url: string, instructions = 'Be brief.') {
  const client = new OpenAI({ apiKey: 'x', baseURL: url, maxRetries: 0 })
  const params = { background: true, store: true }
  return new TurnRunner({
    store,
    model: openaiResponses({ client, model: 'gpt-5.6', params }),
    instructions,
    testing: { sleep: async () => {} },
  })
}

async function killed(url: string): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-kept-'))
  const path = join(folder, 'c.db')
  const program = await bundledProcess('kept-process')
  const { end } = await program.start({ url, path } satisfies KeptTask)
  program.remove()
  expect(end).toBe('SIGKILL')
  const store = storeAt({ path })
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  return store
}

const GET = 'GET /v1/responses/resp_1?stream=true'
const POST = 'POST /v1/responses'

describe('a response that the provider keeps', () => {
  it('is picked up by `recover` after its process was killed, and not paid for twice', async () => {
    const { url, asked } = await background('hangs')
    const store = await killed(url)
    const outcome = await runnerOn(store, url).recover({ conversation: 'c', force: true })
    expect(outcome).toMatchObject({ status: 'completed', text: 'All of it.' })
    expect(outcome.usage).toMatchObject({ inputTokens: 5, outputTokens: 3 })
    expect(asked).toEqual([POST, GET])
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
  }, 30_000)

  it('is asked for anew when the provider does not have it any more', async () => {
    const { url, asked } = await background('hangs', false)
    const store = await killed(url)
    const outcome = await runnerOn(store, url).recover({ conversation: 'c', force: true })
    expect(outcome).toMatchObject({ status: 'completed', text: 'All of it.' })
    expect(asked).toEqual([POST, GET, POST])
  }, 30_000)

  it('is not picked up for another request', async () => {
    const { url, asked } = await background('hangs')
    const store = await killed(url)
    const runner = runnerOn(store, url, 'Be long.')
    const outcome = await runner.recover({ conversation: 'c', force: true })
    expect(outcome.status).toBe('completed')
    expect(asked).toEqual([POST, POST])
  }, 30_000)

  it('is picked up after its stream broke off', async () => {
    const { url, asked } = await background('breaks')
    const store = memoryStore()
    const outcome = await runnerOn(store, url).run({ conversation: 'c', message: 'go' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'All of it.' })
    expect(asked).toEqual([POST, GET])
  })
})
