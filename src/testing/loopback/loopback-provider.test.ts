import Anthropic from '@anthropic-ai/sdk'
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { APIS, samplesOf } from '../../../test/wire/provider-samples.ts'
import { readFrames } from '../../model/event-frames.ts'
import type { LoopbackFault } from './loopback-fault.ts'
import {
  type LoopbackOptions,
  type LoopbackProvider,
  loopbackProvider,
} from './loopback-provider.ts'

const running: LoopbackProvider[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

async function start(options: LoopbackOptions) {
  const server = await loopbackProvider(options)
  running.push(server)
  return server
}

function ask(server: LoopbackProvider, path: string, body: unknown = { stream: true }) {
  return fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })
}

const EVENTS = [
  { type: 'a', n: 1 },
  { type: 'b', n: 2 },
  { type: 'c', n: 3 },
]

async function playFault(fault: LoopbackFault) {
  const server = await start({ api: 'anthropic-messages', exchanges: [{ events: EVENTS, fault }] })
  return ask(server, '/v1/messages')
}

/** The protocols whose streams end with this word. */
const DONE = new Set(['openai-chat', 'gemini-interactions'])

const data = (text: string) => text.match(/(?<=^data: ).*$/gm)

/** Binary frames have a test of their own. */
const TEXT_APIS = APIS.filter((api) => api !== 'bedrock-converse')

describe('loopbackProvider', () => {
  it.each(TEXT_APIS)('plays events in the framing of %s', async (api) => {
    const server = await start({ api, exchanges: [{ events: EVENTS }] })
    const response = await ask(server, samplesOf(api).path)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const text = await response.text()
    const expected = EVENTS.map((event) => JSON.stringify(event))
    expect(data(text)?.map((line) => line.trim())).toEqual(
      DONE.has(api) ? [...expected, '[DONE]'] : expected,
    )
    const isNamed = !DONE.has(api) && api !== 'gemini'
    expect(text.startsWith('event: a\n')).toBe(isNamed)
    expect(server.requests).toMatchObject([{ body: { stream: true }, isStream: true }])
    expect(server.remaining).toBe(0)
  })

  it.each(APIS)('answers an error status in the form of %s', async (api) => {
    const server = await start({
      api,
      exchanges: [{ status: 429, headers: { 'retry-after': '7' } }],
    })
    const response = await ask(server, samplesOf(api).path)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('7')
    const body = (await response.json()) as { error?: object }
    expect(body.error ?? body).toMatchObject({ message: expect.any(String) })
  })

  it('plays a recording byte for byte', async () => {
    const recording = ': hello\r\n\r\ndata: {"a":1,"a":2}\n\ndata: last'
    const server = await start({ api: 'openai-chat', exchanges: [{ recording, chunkBytes: 1 }] })
    const response = await ask(server, '/chat/completions')
    expect(await response.text()).toBe(recording)
  })

  it('asks a function for the answer to a request', async () => {
    const server = await start({
      api: 'openai-chat',
      exchanges: [({ body }) => ({ body: { echo: body } })],
    })
    const response = await ask(server, '/chat/completions', { n: 1 })
    expect(await response.json()).toEqual({ echo: { n: 1 } })
  })

  it('refuses what the validator refuses, and keeps the exchange for the next request', async () => {
    const violation = { rule: 'r', path: 'messages[0]', message: 'No.', prevents: 'the error' }
    const server = await start({
      api: 'openai-chat',
      exchanges: [{ body: {} }],
      validate: (payload) => ((payload as { bad?: boolean }).bad ? [violation] : []),
    })
    const refused = await ask(server, '/chat/completions', { bad: true })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { message: 'No. (messages[0])' } })
    expect((await ask(server, '/chat/completions', {})).status).toBe(200)
    expect(server.requests.map((request) => request.violations)).toEqual([[violation], []])
  })

  it('answers 400 when no exchange is left or the exchange does not fit, and 404 elsewhere', async () => {
    const server = await start({ api: 'openai-chat', exchanges: [{ events: EVENTS }] })
    expect((await ask(server, '/chat/completions', {})).status).toBe(400)
    expect((await ask(server, '/chat/completions', {})).status).toBe(400)
    expect((await ask(server, '/responses', {})).status).toBe(404)
  })

  it('answers 400 with the message of a script that throws', async () => {
    const fails = () => {
      throw new Error('script failed')
    }
    const server = await start({ api: 'openai-chat', exchanges: [fails] })
    const response = await ask(server, '/chat/completions', {})
    expect(await response.text()).toContain('script failed')
  })

  it('cuts a body as if it were complete', async () => {
    const whole = await (await playFault({ type: 'cut', at: 2 })).text()
    expect(data(whole)).toHaveLength(2)
    const inside = await (await playFault({ type: 'cut', at: 1, byte: 12 })).text()
    expect(inside.endsWith('\n\nevent: b\ndat')).toBe(true)
  })

  it('resets the connection', async () => {
    const response = await playFault({ type: 'reset', at: 1 })
    await expect(response.text()).rejects.toThrow('terminated')
  })

  it('stalls until the client leaves', async () => {
    const response = await playFault({ type: 'stall', at: 1 })
    const reader = response.body?.getReader()
    expect((await reader?.read())?.value).toBeDefined()
    const next = reader?.read().then(() => 'came')
    const quiet = new Promise((resolve) => setTimeout(resolve, 50, 'quiet'))
    expect(await Promise.race([next, quiet])).toBe('quiet')
    await reader?.cancel()
  })

  it('continues after a timed stall without losing a byte', async () => {
    const text = await (await playFault({ type: 'stall', at: 1, byte: 5, ms: 5 })).text()
    expect(data(text)).toEqual(EVENTS.map((event) => JSON.stringify(event)))
  })

  it('duplicates and reorders events', async () => {
    const numbers = async (fault: LoopbackFault) =>
      data(await (await playFault(fault)).text())?.map((line) => JSON.parse(line).n)
    expect(await numbers({ type: 'duplicate', at: 1 })).toEqual([1, 2, 2, 3])
    expect(await numbers({ type: 'reorder', at: 0 })).toEqual([2, 1, 3])
  })

  it('corrupts one event and keeps the framing', async () => {
    const lines = data(await (await playFault({ type: 'corrupt', at: 1 })).text())
    expect(lines).toHaveLength(3)
    expect(() => JSON.parse(lines?.[1] ?? '{}')).toThrow('JSON')
    expect(JSON.parse(lines?.[2] ?? '')).toEqual(EVENTS[2])
  })

  it('sends a byte that is not UTF-8', async () => {
    const bytes = await (await playFault({ type: 'invalid-utf8', at: 1 })).arrayBuffer()
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toThrow(TypeError)
  })

  it('plays binary frames, and recordings of them', async () => {
    const events = [{ messageStart: { role: 'assistant' } }, '{"ping": {"a":1,"a":2}}']
    const fault = { type: 'error', at: 2, status: 429 } as const
    const api = 'bedrock-converse'
    const server = await start({ api, exchanges: [{ events, fault }] })
    const response = await ask(server, samplesOf(api).path)
    expect(response.headers.get('content-type')).toBe('application/vnd.amazon.eventstream')
    const recording = new Uint8Array(await response.arrayBuffer())
    const read = async (source: AsyncIterable<Uint8Array>) => {
      const frames: object[] = []
      for await (const batch of readFrames(source)) frames.push(...batch)
      return frames
    }
    const played = await start({
      api,
      exchanges: [{ recording, chunkBytes: 3, fault: { type: 'cut', at: 2 } }],
    })
    const again = await ask(played, samplesOf(api).path)
    expect(await read(new Blob([recording]).stream())).toEqual([
      { name: 'messageStart', data: '{"role":"assistant"}' },
      { name: 'ping', data: '{"a":1,"a":2}' },
      { name: 'throttlingException', data: expect.stringContaining('429') },
    ])
    expect(await read(again.body as AsyncIterable<Uint8Array>)).toHaveLength(2)
  })

  it.each(TEXT_APIS)('ends a stream of %s with its error event', async (api) => {
    const fault = { type: 'error', at: 1, status: 529 } as const
    const server = await start({ api, exchanges: [{ events: EVENTS, fault }] })
    const response = await ask(server, samplesOf(api).path)
    expect(response.status).toBe(200)
    const last = JSON.parse(data(await response.text())?.[1] ?? '')
    expect(last.error?.message ?? last.message).toContain('529')
  })

  it('is a base URL for the official clients', async () => {
    const body = { ok: true }
    const start1 = (api: LoopbackOptions['api']) => start({ api, exchanges: [{ body }] })
    const input = [{ role: 'user', content: 'hi' }] as const
    const model = 'm'
    const [chat, responses, foundry, messages, gemini] = await Promise.all([
      start1('openai-chat'),
      start1('openai-responses'),
      start1('foundry'),
      start1('anthropic-messages'),
      start1('gemini'),
    ])
    const openai = (baseURL: string) => new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
    await openai(chat.url).chat.completions.create({ model, messages: [...input] })
    await openai(responses.url).responses.create({ model, input: 'hi' })
    await openai(foundry.url).responses.create({ model, input: 'hi' })
    const anthropic = new Anthropic({ apiKey: 'k', baseURL: messages.url, maxRetries: 0 })
    await anthropic.messages.create({ model, max_tokens: 1, messages: [...input] })
    const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: gemini.url } })
    await google.models.generateContent({ model, contents: 'hi' })
    const bedrock = await start1('bedrock-converse')
    const amazon = new BedrockRuntimeClient({
      endpoint: bedrock.url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'k', secretAccessKey: 'k' },
    })
    await amazon.send(new ConverseCommand({ modelId: model }))
    for (const server of [chat, responses, foundry, messages, gemini, bedrock]) {
      expect(server.requests).toHaveLength(1)
    }
  })
})
