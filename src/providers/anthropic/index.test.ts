import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../model/model.ts'
import type { Finish, ModelEvent } from '../../model/model-event.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import { type AnthropicMessagesOptions, anthropicMessages } from './index.ts'
import { validateRequest } from './validate.ts'

type Answer = (response: ServerResponse) => void
interface Received {
  readonly url: string
  readonly beta: unknown
  readonly body: Record<string, unknown>
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
}

/** The official client and a server on the loopback interface that gives the answers in order. */
async function connect(...answers: readonly Answer[]) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      received.push({ url: request.url ?? '', beta: request.headers['anthropic-beta'], body })
      const answer = answers[received.length - 1]
      if (answer === undefined) response.destroy()
      else answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new Anthropic({ apiKey: 'test', baseURL, maxRetries: 0 })
  const open = (options: Partial<AnthropicMessagesOptions> = {}) =>
    anthropicMessages({ client, model: 'claude-test-1', ...options })
  return { open, received }
}

const frame = (event: object) =>
  `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`
const sse =
  (...events: readonly object[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map(frame).join(''))
  }
const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
const use = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }
const text = { type: 'text', text: 'Four degrees.' }
const whole = (stop_reason: string, ...content: object[]) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  model: 'claude-test-1',
  content,
  stop_reason,
  usage: { input_tokens: 1, output_tokens: 1 },
})
const streamed = (stop_reason: string, ...content: object[]) =>
  sse(
    { type: 'message_start', message: { ...whole('', ...[]), stop_reason: null } },
    ...content.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  )

async function run(events: AsyncIterable<ModelEvent>): Promise<Finish> {
  let finish: Finish | undefined
  for await (const event of events) if (event.type === 'finish') finish = event
  if (finish === undefined) throw new Error('there was no finish')
  return finish
}

const question: HistoryItem = {
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text: 'Weather in Oslo?' }],
}
const request: ModelRequest = {
  instructions: 'Be brief.',
  items: [question],
  tools: [{ name: 'weather', description: 'Weather.', inputSchema: { type: 'object' } }],
}

describe('anthropicMessages', () => {
  it.each([
    ['streaming', true, [streamed('tool_use', thinking, use), streamed('end_turn', text)]],
    ['whole', false, [json(whole('tool_use', thinking, use)), json(whole('end_turn', text))]],
  ])('holds a two-step conversation with tools, %s', async (_, streaming, answers) => {
    const { open, received } = await connect(...answers)
    const model = open({ streaming })
    const first = await run(model.stream(request))
    expect(first).toMatchObject({
      reason: 'tools',
      items: [{ type: 'thought' }, { id: 'toolu_1' }],
    })
    const settled = first.items.map((item) =>
      item.type === 'call'
        ? { ...item, result: { isError: false, parts: [{ type: 'text' as const, text: '4 C' }] } }
        : item,
    )
    const second = await run(model.stream({ ...request, items: [question, ...settled] }))
    expect(second).toMatchObject({
      reason: 'stop',
      items: [{ parts: [{ text: 'Four degrees.' }] }],
    })
    expect(received[1]).toMatchObject({ url: '/v1/messages' })
    expect(received[1]?.body).toEqual({
      model: 'claude-test-1',
      max_tokens: 16_384,
      stream: streaming,
      system: 'Be brief.',
      tools: [{ name: 'weather', description: 'Weather.', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Weather in Oslo?' },
        { role: 'assistant', content: [thinking, use] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '4 C' }],
        },
      ],
    })
    expect(validateRequest(received[1]?.body)).toEqual([])
  })

  it('sends hosted tools and parameters, which win', async () => {
    const { open, received } = await connect(json(whole('end_turn', text)))
    const model = open({
      streaming: false,
      hostedTools: [
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'bash_20250124', name: 'bash' },
      ],
      params: { max_tokens: 99, system: [{ type: 'text', text: 'Always.' }] },
    })
    const tool = { name: 'bash', description: 'Ours.', inputSchema: { type: 'object' } }
    const output = { name: 'answer', schema: { type: 'object' } }
    await run(model.stream({ ...request, tools: [tool], toolChoice: 'required', output }))
    expect(received[0]?.body).toMatchObject({
      max_tokens: 99,
      tools: [{ type: 'web_search_20250305' }, { type: 'bash_20250124' }],
      tool_choice: { type: 'any' },
      system: [{ text: 'Be brief.' }, { text: 'Always.' }],
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    })
  })

  it('uses the beta half of the client when betas are asked for', async () => {
    const { open, received } = await connect(streamed('end_turn', text))
    await run(open({ params: { betas: ['mcp-client-2025-11-20'] } }).stream(request))
    expect(received[0]).toMatchObject({ beta: 'mcp-client-2025-11-20' })
    expect(received[0]?.body).not.toHaveProperty('betas')
  })

  it('sends the container back until it expires', async () => {
    const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' }
    const answer = json({ ...whole('end_turn', text), container })
    const { open, received } = await connect(answer, answer, answer)
    let time = Date.parse('2029-12-31T00:00:00Z')
    const skills = [{ type: 'anthropic' as const, skill_id: 'pdf' }]
    const model = open({ streaming: false, now: () => time, params: { container: { skills } } })
    const { items } = await run(model.stream(request))
    await run(model.stream({ items: [question, ...items, question] }))
    time = Date.parse('2030-01-02T00:00:00Z')
    await run(model.stream({ items: [question, ...items, question] }))
    expect(received.map(({ body }) => body['container'])).toEqual([
      { skills },
      { skills, id: 'container_1' },
      { skills },
    ])
  })

  it('does not replay signatures to another endpoint', async () => {
    const there = await connect(streamed('tool_use', thinking, use))
    const here = await connect(streamed('end_turn', text))
    const { items } = await run(there.open().stream(request))
    await run(here.open().stream({ items: [question, ...items] }))
    expect(here.received[0]?.body['messages']).toMatchObject([
      {},
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1' }] },
      {},
    ])
  })

  it('judges arguments as they were sent, streaming and not', async () => {
    const twice = (body: object) => JSON.stringify(body).replace('"Oslo"', '"Oslo","city":"Lima"')
    const events = [
      { type: 'message_start', message: { ...whole('tool_use', use) } },
      { type: 'message_stop' },
    ]
    const { open } = await connect(json(twice(whole('tool_use', use))), (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(events.map((event) => `data: ${twice(event)}\n\n`).join(''))
    })
    for (const streaming of [false, true]) {
      const { items } = await run(open({ streaming }).stream(request))
      expect(items).toMatchObject([{ fault: { rule: 'duplicate-key' } }])
    }
  })
})

describe('anthropicMessages: failures', () => {
  const error = (type: string, message = 'no') => ({ type: 'error', error: { type, message } })
  it.each([
    [400, error('invalid_request_error'), 'E_PROVIDER_BAD_REQUEST', false],
    [
      400,
      error('invalid_request_error', 'prompt is too long: 9 > 8'),
      'E_PROVIDER_CONTEXT_TOO_LONG',
      false,
    ],
    [401, error('authentication_error'), 'E_PROVIDER_AUTH', false],
    [402, error('billing_error'), 'E_PROVIDER_AUTH', false],
    [403, error('permission_error'), 'E_PROVIDER_AUTH', false],
    [404, error('not_found_error'), 'E_PROVIDER_NOT_FOUND', false],
    [413, error('request_too_large'), 'E_PROVIDER_CONTEXT_TOO_LONG', false],
    [429, error('rate_limit_error'), 'E_PROVIDER_RATE_LIMITED', true],
    [500, error('api_error'), 'E_PROVIDER_UNAVAILABLE', true],
    [504, error('timeout_error'), 'E_PROVIDER_UNAVAILABLE', true],
    [529, error('overloaded_error'), 'E_PROVIDER_UNAVAILABLE', true],
    [503, 'no JSON at all', 'E_PROVIDER_UNAVAILABLE', true],
  ])('maps status %i with %j', async (status, body, code, isRetryable) => {
    const { open } = await connect(json(body, status))
    await expect(run(open().stream(request))).rejects.toMatchObject({
      code,
      data: { api: 'anthropic-messages', status, isRetryable },
    })
  })

  it('says when it may be tried again', async () => {
    const { open } = await connect(json(error('rate_limit_error'), 429, { 'retry-after': '7' }))
    await expect(run(open().stream(request))).rejects.toMatchObject({
      data: { providerCode: 'rate_limit_error', retryAfterMs: 7000 },
    })
  })

  it('maps an error event after status 200, even after a finished call', async () => {
    const { open } = await connect(
      sse(
        { type: 'message_start', message: whole('tool_use', use) },
        error('overloaded_error', 'Overloaded'),
        { type: 'message_stop' },
      ),
    )
    await expect(run(open().stream(request))).rejects.toMatchObject({
      code: 'E_PROVIDER_UNAVAILABLE',
      message: expect.stringContaining('Overloaded') as string,
    })
  })

  it.each([
    ['no answer', (response: ServerResponse) => void response.destroy(), 'E_PROVIDER_UNREACHABLE'],
    ['an empty body', sse(), 'E_STREAM_BROKEN'],
    ['a body that is no JSON', json('oops'), 'E_STREAM_BROKEN', false],
    [
      'a whole response that did not end',
      json({ type: 'message', content: [] }),
      'E_STREAM_BROKEN',
      false,
    ],
  ])('gives an error for %s', async (_, answer, code, streaming = true) => {
    const { open } = await connect(answer)
    await expect(run(open({ streaming }).stream(request))).rejects.toMatchObject({ code })
  })

  it('passes an abort on as it is', async () => {
    const { open } = await connect(() => undefined)
    const signal = AbortSignal.timeout(20)
    await expect(run(open().stream(request, { signal }))).rejects.not.toMatchObject({
      name: 'BobbinError',
    })
  })

  it('admits no call from a connection that is cut at any event', async () => {
    const file = new URL('./fixtures/stream-calls.json', import.meta.url)
    const { events } = JSON.parse(readFileSync(file, 'utf8')) as { events: object[] }
    const cut =
      (count: number, how: 'end' | 'destroy'): Answer =>
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(events.slice(0, count).map(frame).join(''), () => response[how]())
      }
    const answers = events.flatMap((_, count) => [cut(count, 'end'), cut(count, 'destroy')])
    const { open } = await connect(...answers, sse(...events))
    for (const _ of answers) {
      await expect(run(open().stream(request))).rejects.toMatchObject({
        code: expect.stringMatching(/^E_(STREAM_BROKEN|PROVIDER_UNREACHABLE)$/) as string,
      })
    }
    expect((await run(open().stream(request))).items).toHaveLength(4)
  })
})
