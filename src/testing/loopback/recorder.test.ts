import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type LoopbackOptions,
  type LoopbackProvider,
  loopbackProvider,
} from './loopback-provider.ts'
import type { LoopbackRecording } from './recording.ts'

const KEY = 'sk-live-0123456789abcdef'
const running: LoopbackProvider[] = []
let directory = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'recorder-'))
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
  await rm(directory, { recursive: true })
})

async function start(options: LoopbackOptions) {
  const server = await loopbackProvider(options)
  running.push(server)
  return server
}

/** A real server, and a recorder in front of it. */
async function recorded(api: string, exchanges: LoopbackOptions['exchanges'] = []) {
  const upstream = await start({ api, exchanges })
  const server = await start({ api, record: { upstream: upstream.url, directory } })
  return { upstream, server }
}

async function written(): Promise<readonly LoopbackRecording[]> {
  const files = (await readdir(directory)).sort()
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')))
  return texts.map((text) => JSON.parse(text) as LoopbackRecording)
}

const PATHS: Readonly<Record<string, string>> = {
  'openai-responses': '/responses',
  'openai-chat': '/chat/completions',
  'anthropic-messages': '/v1/messages',
  gemini: `/v1beta/models/m:streamGenerateContent?alt=sse&key=${KEY}`,
  foundry: '/responses',
}

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers })

describe('loopbackProvider with `record`', () => {
  it.each(Object.keys(PATHS))('passes a stream of %s through, and plays it again', async (api) => {
    const events = [
      { type: 'a', n: 1 },
      { type: 'b', text: 'grüße' },
    ]
    const { upstream, server } = await recorded(api, [{ events, chunkBytes: 3 }])
    const response = await post(server.url + PATHS[api], { stream: true })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const text = await response.text()
    expect(text).toContain(JSON.stringify(events[1]))
    expect(upstream.requests).toMatchObject([{ body: { stream: true }, isStream: true }])

    const [recording] = await written()
    expect(server.recordings).toEqual([recording])
    const again = await start({ api, exchanges: recording ? [recording.exchange] : [] })
    expect(await (await post(again.url + PATHS[api], { stream: true })).text()).toBe(text)
  })

  it('records whole answers and errors, in order', async () => {
    const { server } = await recorded('openai-chat', [
      { body: { id: 'c1', choices: [] } },
      { status: 429, headers: { 'retry-after': '7', 'x-request-id': 'req_9' } },
    ])
    const url = `${server.url}/chat/completions`
    expect(await (await post(url, {})).json()).toEqual({ id: 'c1', choices: [] })
    const refused = await post(url, {})
    expect(refused.status).toBe(429)
    expect(refused.headers.get('x-request-id')).toBe('req_9')
    await refused.text()
    expect(await written()).toMatchObject([
      { exchange: { status: 200, body: { id: 'c1', choices: [] } } },
      { exchange: { status: 429, headers: { 'retry-after': '7' }, body: { error: {} } } },
    ])
    expect(await readdir(directory)).toEqual(['openai-chat-0001.json', 'openai-chat-0002.json'])
  })

  it('works with an official client', async () => {
    const message = { role: 'assistant', content: 'Snow.' }
    const { server } = await recorded('openai-chat', [
      { body: { id: 'c1', choices: [{ index: 0, message, finish_reason: 'stop' }] } },
    ])
    const client = new OpenAI({ apiKey: KEY, baseURL: server.url, organization: 'org-acme' })
    const answer = await client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'Weather?' }],
      user: 'ada@example.com',
    })
    expect(answer.choices[0]?.message.content).toBe('Snow.')
    const [file] = await readdir(directory)
    const text = await readFile(join(directory, file ?? ''), 'utf8')
    for (const secret of [KEY, 'org-acme', 'ada@example.com', 'OpenAI/JS']) {
      expect(text).not.toContain(secret)
    }
    expect(JSON.parse(text)).toMatchObject({
      request: { path: '/v1/chat/completions', body: { model: 'm', user: '[removed]' } },
    })
  })

  it.each([
    { authorization: `Bearer ${KEY}` },
    { 'x-api-key': KEY },
    { 'api-key': KEY },
    { 'x-goog-api-key': KEY },
    { cookie: `session=${KEY}` },
  ])('writes no key, wherever it stands: %j', async (headers) => {
    const { server } = await recorded('openai-responses', [
      {
        headers: { 'set-cookie': KEY, 'x-echo': KEY, 'openai-organization': 'org-acme' },
        events: [{ type: 'error', message: `bad key ${KEY}` }],
      },
    ])
    const body = {
      stream: true,
      user: 'lovelace',
      safety_identifier: 'lovelace',
      metadata: { name: 'lovelace' },
      input: [{ role: 'user', content: `my key is ${KEY}` }],
      tools: [
        { type: 'mcp', server_label: 'crm', authorization: 'tok', headers: { 'x-key': 'tok' } },
        { type: 'function', name: 'user', parameters: { properties: { user: {} } } },
      ],
    }
    const response = await post(`${server.url}/responses`, body, headers)
    await response.text()
    const [recording] = await written()
    const text = JSON.stringify(recording)
    expect(text).not.toContain(KEY)
    expect(text).not.toMatch(/lovelace|org-acme|"tok"/)
    // The name of a tool and of its parameters stay.
    expect(text).toContain('"name":"user","parameters":{"properties":{"user":{}}}')
    expect(recording?.request.headers).toEqual({
      accept: '*/*',
      'content-type': expect.any(String),
    })
  })

  it('takes out of the events of a stream what names a person, and leaves other lines as they are', async () => {
    const echoed = { type: 'response.created', response: { id: 'r', user: 'ada', metadata: {} } }
    const lines = `event: x\r\ndata: ${JSON.stringify(echoed)}\r\n\r\ndata: {"a":1, "a":2}\n\n: end\n\n`
    const { server } = await recorded('openai-responses', [{ recording: lines }])
    const response = await post(`${server.url}/responses`, { stream: true })
    expect(await response.text()).toBe(lines)
    const [recording] = await written()
    expect(recording?.exchange.recording).toBe(lines.replace('"user":"ada"', '"user":"[removed]"'))
  })

  it('keeps bytes that are not text, without the key in them', async () => {
    const bytes = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(KEY), Buffer.of(0x0a)])
    const { server } = await recorded('openai-chat', [{ recording: bytes }])
    const url = '/chat/completions'
    await (await post(server.url + url, { stream: true }, { 'x-api-key': KEY })).arrayBuffer()
    const [recording] = await written()
    const again = await start({
      api: 'openai-chat',
      exchanges: recording ? [recording.exchange] : [],
    })
    const played = await (await post(again.url + url, { stream: true })).arrayBuffer()
    const masked = Buffer.from(bytes).fill('x', 2, 2 + KEY.length)
    expect(Buffer.from(played)).toEqual(masked)
  })

  it('replaces no file', async () => {
    await writeFile(join(directory, 'openai-chat-0001.json'), 'mine')
    const { server } = await recorded('openai-chat', [{ body: {} }])
    await (await post(`${server.url}/chat/completions`, {})).text()
    expect(await readFile(join(directory, 'openai-chat-0001.json'), 'utf8')).toBe('mine')
    expect(await readdir(directory)).toHaveLength(2)
  })

  it('does not send what the validator refuses', async () => {
    const upstream = await start({ api: 'openai-chat', exchanges: [] })
    const violation = { rule: 'r', path: 'messages[0]', message: 'No.', prevents: 'the error' }
    const server = await start({
      api: 'openai-chat',
      record: { upstream: upstream.url, directory },
      validate: () => [violation],
    })
    expect((await post(`${server.url}/chat/completions`, {})).status).toBe(400)
    expect(upstream.requests).toEqual([])
  })

  it('answers 400 when the real server cannot be reached, and writes nothing', async () => {
    const server = await start({
      api: 'openai-chat',
      record: { upstream: 'http://127.0.0.1:1/v1', directory },
    })
    expect((await post(`${server.url}/chat/completions`, {})).status).toBe(400)
    expect(await written()).toEqual([])
  })

  it.each([
    [{ record: 'nowhere' }, 'record'],
    [{ record: 'http://127.0.0.1:1', exchanges: [] }, 'exchanges'],
    [{ record: { upstream: 'http://127.0.0.1:1', directory: '' } }, 'record.directory'],
  ])('refuses %j', async (options, path) => {
    await expect(loopbackProvider({ api: 'openai-chat', ...options })).rejects.toMatchObject({
      data: { path },
    })
  })
})
