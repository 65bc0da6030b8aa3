import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gemini } from '../../src/providers/gemini/index.ts'
import { openaiChat } from '../../src/providers/openai/index.ts'
import { anyHttpServer } from '../../src/testing/loopback/any-http-server.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { REQUEST } from './model-sample.ts'
import { samplesOf, WAYS } from './provider-samples.ts'

const MEGABYTE = 1024 * 1024
/** A server that would send this much has been stopped in time if it sent less. */
const ENDLESS = 512 * MEGABYTE

interface Flood {
  readonly status?: number
  readonly type?: string
  readonly opening?: string
  readonly piece?: string
  readonly isGzip?: boolean
}

/** A provider that sends and sends. `sent` counts what left it, before compression. */
async function flood({ status = 200, type = 'application/json', ...how }: Flood) {
  const counts = { sent: 0, requests: 0 }
  const piece = Buffer.from((how.piece ?? 'x').repeat(64 * 1024))
  function* pieces() {
    yield Buffer.from(how.opening ?? '')
    for (; counts.sent < ENDLESS; counts.sent += piece.length) yield piece
  }
  const pour = async (response: ServerResponse) => {
    const encoding = how.isGzip ? { 'content-encoding': 'gzip' } : {}
    response.writeHead(status, { 'content-type': type, ...encoding })
    const body = Readable.from(pieces())
    const sent = how.isGzip ? pipeline(body, createGzip(), response) : pipeline(body, response)
    await sent.catch(() => {}) // the client hangs up
  }
  const server = await anyHttpServer((incoming, response) => {
    counts.requests++
    incoming.resume()
    incoming.on('end', () => void pour(response))
  })
  onTestFinished(() => server.close())
  return { url: `http://127.0.0.1:${server.port}`, counts }
}

/** What a model does with it, and how far the memory of the process grew meanwhile. */
async function receive(way: string, how: Flood, streaming: boolean) {
  const { url, counts } = await flood(how)
  const model = samplesOf(way).open(url, { streaming, maxResponseBytes: MEGABYTE })
  const before = process.memoryUsage().rss
  let grown = 0
  const watch = setInterval(() => {
    grown = Math.max(grown, process.memoryUsage().rss - before)
  }, 5)
  const run = async () => {
    for await (const _ of model.stream(REQUEST)) continue
  }
  const error: unknown = await run().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  clearInterval(watch)
  return { error, counts, grown }
}

const event = { type: 'text/event-stream' }
const FLOODS: readonly [string, Flood, boolean][] = [
  ['a JSON body', { opening: '{"text":"' }, false],
  ['a JSON body in place of a stream', { opening: '{"text":"' }, true],
  ['a compressed JSON body', { opening: '{"text":"', isGzip: true }, false],
  ['one event', { ...event, opening: 'data: ' }, true],
  ['one compressed event', { ...event, opening: 'data: ', isGzip: true }, true],
  ['comments', { ...event, piece: ': wait\n\n' }, true],
  ['an error body', { status: 400, opening: '{"error":{"message":"' }, true],
  ['a compressed error body', { status: 400, opening: '{"error":"', isGzip: true }, true],
  ['an error body that says to try again', { status: 503, type: 'text/plain' }, true],
]

describe.each(WAYS)('a response of %s without end', (way) => {
  const { api, open } = samplesOf(way)

  it.each(FLOODS)('is given up when it is %s', async (_, how, streaming) => {
    const { error, counts, grown } = await receive(way, how, streaming)
    expect(error).toMatchObject({
      code: 'E_RESPONSE_TOO_LARGE',
      data: { api, maxResponseBytes: MEGABYTE },
      message: `\`${api}\` sent more than 1048576 bytes in one response. Ask for less, or raise \`maxResponseBytes\` of the model.`,
    })
    expect(counts.sent).toBeLessThan(ENDLESS / 4)
    expect(grown).toBeLessThan(192 * MEGABYTE)
  })

  it('fails the turn and is not asked for again', async () => {
    const { url, counts } = await flood({ ...event, opening: 'data: ' })
    const runner = new TurnRunner({
      model: open(url, { maxResponseBytes: MEGABYTE }),
      retries: 3,
    })
    const outcome = await runner.run({ message: 'go' })
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: { errorCode: 'E_RESPONSE_TOO_LARGE' },
    })
    expect(counts.requests).toBe(1)
  })
})

describe('a response that only a client has seen', () => {
  it('is counted by what the client gives', async () => {
    const text = 'x'.repeat(64 * 1024)
    const parts = [{ text }]
    let given = 0
    const models = {
      generateContentStream: async function* () {
        for (; given < 1000; given++) yield { candidates: [{ content: { parts } }] }
      },
    }
    const client = { models, vertexai: false } as unknown as GoogleGenAI
    const model = gemini({ client, model: 'm', maxResponseBytes: MEGABYTE })
    const run = async () => {
      for await (const _ of model.stream(REQUEST)) continue
    }
    await expect(run()).rejects.toMatchObject({ code: 'E_RESPONSE_TOO_LARGE' })
    expect(given).toBeLessThan(20)
  })
})

describe('a client of OpenAI that a model uses', () => {
  it('reads errors of its own requests as before', async () => {
    const said = 'x'.repeat(2 * MEGABYTE)
    const fetch = async () => Response.json({ error: { message: said } }, { status: 400 })
    const client = new OpenAI({ apiKey: 'x', maxRetries: 0, fetch })
    const model = openaiChat({ client, model: 'm', maxResponseBytes: MEGABYTE })
    const run = async () => {
      for await (const _ of model.stream(REQUEST)) continue
    }
    await expect(run()).rejects.toMatchObject({ code: 'E_RESPONSE_TOO_LARGE' })
    await expect(client.models.list()).rejects.toMatchObject({
      status: 400,
      error: { message: said },
    })
  })
})
