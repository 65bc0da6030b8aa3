import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { isBobbinError } from '../../../core/error.ts'
import type { ModelRequest } from '../../../model/model.ts'
import type { Finish } from '../../../model/model-event.ts'
import type { HistoryItem } from '../../../records/history-item.ts'
import {
  type LoopbackExchange,
  type LoopbackProvider,
  type LoopbackScript,
  loopbackProvider,
} from '../../../testing/loopback-provider.ts'
import { chatAdapter } from './adapter.ts'
import { type ChatOptions, openaiChat } from './model.ts'

const running: LoopbackProvider[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

async function start(exchanges: readonly LoopbackScript[], options: Partial<ChatOptions> = {}) {
  const { validate } = chatAdapter
  const server = await loopbackProvider({ api: 'openai-chat', exchanges, validate })
  running.push(server)
  const client = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 })
  return { server, model: openaiChat({ client, model: 'loom-1', ...options }) }
}

const asked: HistoryItem = {
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text: 'How warm?' }],
}
const tools = [
  { name: 'read_sensor', description: 'Reads.', inputSchema: { type: 'object', properties: {} } },
]

async function finishOf(
  model: ReturnType<typeof openaiChat>,
  request: ModelRequest,
  signal?: AbortSignal,
): Promise<Finish> {
  let finish: Finish | undefined
  for await (const event of model.stream(request, signal === undefined ? {} : { signal })) {
    if (event.type === 'finish') finish = event
  }
  if (finish === undefined) throw new Error('there is no finish')
  return finish
}

async function failureOf(exchange: LoopbackExchange, options?: Partial<ChatOptions>) {
  const { model } = await start([exchange], options)
  const error: unknown = await finishOf(model, { items: [asked] }).catch((caught) => caught)
  if (!isBobbinError(error)) throw error
  return error
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'loom-1',
  choices: [{ index: 0, delta, finish_reason }],
})
const callPiece = (piece: object) => chunk({ tool_calls: [{ index: 0, ...piece }] })
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }

const CALL = {
  events: [
    chunk({ role: 'assistant', content: '' }),
    callPiece({ id: 'call_1', type: 'function', function: { name: 'read_sensor', arguments: '' } }),
    callPiece({ function: { arguments: '{"hall"' } }),
    callPiece({ function: { arguments: ':2}' } }),
    chunk({}, 'tool_calls'),
    { id: 'chatcmpl-1', choices: [], usage },
  ],
  body: {
    id: 'chatcmpl-1',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'read_sensor', arguments: '{"hall":2}' },
            },
          ],
        },
      },
    ],
    usage,
  },
}
const ANSWER = {
  events: [chunk({ role: 'assistant', content: '21' }), chunk({ content: ' °C.' }, 'stop')],
  body: {
    id: 'chatcmpl-2',
    choices: [
      { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '21 °C.' } },
    ],
  },
}

describe('openaiChat', () => {
  it.each([true, false])('holds a two-step tool conversation, streaming: %s', async (streaming) => {
    const { server, model } = await start([CALL, ANSWER], { streaming })
    const request = { instructions: 'Be brief.', items: [asked], tools }
    const first = await finishOf(model, request)
    expect(first).toMatchObject({
      reason: 'tools',
      usage: { inputTokens: 3, outputTokens: 4 },
      items: [{ type: 'call', id: 'call_1', tool: 'read_sensor', args: { hall: 2 } }],
    })
    const result = { isError: false, parts: [{ type: 'text', text: '21' } as const] }
    const settled = first.items.map((item) => (item.type === 'call' ? { ...item, result } : item))
    const second = await finishOf(model, { ...request, items: [asked, ...settled] })
    expect(second).toMatchObject({ reason: 'stop', items: [{ parts: [{ text: '21 °C.' }] }] })
    expect(server.requests.map(({ violations }) => violations)).toEqual([[], []])
    expect(server.requests[1]?.body).toEqual({
      model: 'loom-1',
      stream: streaming,
      ...(streaming && { stream_options: { include_usage: true } }),
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How warm?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'read_sensor', arguments: '{"hall":2}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '21' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'read_sensor',
            description: 'Reads.',
            parameters: { type: 'object', properties: {} },
          },
        },
      ],
    })
  })

  it('passes on hosted tools, parameters, the choice of tool and the shape of the answer', async () => {
    const { server, model } = await start([ANSWER], {
      streaming: false,
      hostedTools: [{ type: 'custom', custom: { name: 'read_sensor' } }],
      params: { temperature: 0, reasoning_effort: 'low' },
    })
    const schema = { type: 'object' }
    const toolChoice = { tool: 'read_sensor' }
    await finishOf(model, { items: [asked], tools, toolChoice, output: { name: 'out', schema } })
    expect(server.requests[0]?.body).toMatchObject({
      temperature: 0,
      reasoning_effort: 'low',
      tools: [{ type: 'custom', custom: { name: 'read_sensor' } }],
      tool_choice: { type: 'custom', custom: { name: 'read_sensor' } },
      response_format: { type: 'json_schema', json_schema: { name: 'out', schema } },
    })
  })

  it('sends no choice of tools where there are none', async () => {
    const { server, model } = await start([ANSWER], { streaming: false })
    await finishOf(model, { items: [asked], toolChoice: 'none' })
    expect(server.requests[0]?.body).not.toHaveProperty('tool_choice')
  })

  it('gives no call when the stream is cut before its finish reason, at any event', async () => {
    const cuts = CALL.events.map((_, at) => ({ events: CALL.events, fault: { type: 'cut', at } }))
    const { model } = await start(cuts as LoopbackExchange[])
    for (let at = 0; at < cuts.length; at++) {
      const attempt = finishOf(model, { items: [asked] })
      if (at < 5) await expect(attempt).rejects.toMatchObject({ code: 'E_STREAM_BROKEN' })
      else expect((await attempt).items).toHaveLength(1)
    }
  })

  it.each([
    [{ type: 'corrupt', at: 2 }, 'E_STREAM_BROKEN'],
    [{ type: 'invalid-utf8', at: 2 }, 'E_STREAM_BROKEN'],
    [{ type: 'reorder', at: 3 }, 'E_STREAM_BROKEN'],
    [{ type: 'reset', at: 2 }, 'E_PROVIDER_UNREACHABLE'],
    [{ type: 'error', at: 5, status: 529 }, 'E_PROVIDER_UNAVAILABLE'],
    [{ type: 'error', at: 3, status: 429 }, 'E_PROVIDER_RATE_LIMITED'],
  ] as const)('gives no call after the fault %j', async (fault, code) => {
    expect((await failureOf({ events: CALL.events, fault })).code).toBe(code)
  })

  it('refuses the arguments that a repeated chunk broke', async () => {
    const { model } = await start([{ events: CALL.events, fault: { type: 'duplicate', at: 2 } }])
    const { items } = await finishOf(model, { items: [asked] })
    expect(items).toMatchObject([{ type: 'call', fault: { rule: 'not-json' } }])
  })

  it('is no slower reader for chunks of one byte', async () => {
    const { model } = await start([{ events: CALL.events, chunkBytes: 1 }])
    expect((await finishOf(model, { items: [asked] })).items).toHaveLength(1)
  })

  it.each([
    [400, 'E_PROVIDER_BAD_REQUEST', false],
    [401, 'E_PROVIDER_AUTH', false],
    [404, 'E_PROVIDER_NOT_FOUND', false],
    [429, 'E_PROVIDER_RATE_LIMITED', true],
    [500, 'E_PROVIDER_UNAVAILABLE', true],
    [529, 'E_PROVIDER_UNAVAILABLE', true],
  ])('tells status %i as %s', async (status, code, isRetryable) => {
    const error = await failureOf({ status, headers: { 'retry-after': '2' } })
    expect(error).toMatchObject({ code, data: { status, isRetryable, retryAfterMs: 2000 } })
  })

  it('tells the error of a whole response with status 200', async () => {
    const body = { error: { message: 'Too long.', code: 'context_length_exceeded' } }
    const error = await failureOf({ body }, { streaming: false })
    expect(error.code).toBe('E_PROVIDER_CONTEXT_TOO_LONG')
  })

  it('reads a whole answer of a server that does not stream', async () => {
    const headers = { 'content-type': 'application/json' }
    const { model } = await start([{ recording: JSON.stringify(CALL.body), headers }])
    expect((await finishOf(model, { items: [asked] })).items).toHaveLength(1)
  })

  it('passes an abort on as it is', async () => {
    const fault = { type: 'stall', at: 2 } as const
    const { model } = await start([{ events: CALL.events, fault }])
    const stop = new AbortController()
    const attempt = finishOf(model, { items: [asked] }, stop.signal)
    setTimeout(() => stop.abort(), 50)
    const error: unknown = await attempt.catch((caught) => caught)
    expect(error).toMatchObject({ name: 'AbortError' })
    expect(isBobbinError(error)).toBe(false)
  })

  it('says when nobody answers', async () => {
    const { server, model } = await start([])
    await server.close()
    await expect(finishOf(model, { items: [asked] })).rejects.toMatchObject({
      code: 'E_PROVIDER_UNREACHABLE',
    })
  })

  it('keeps reasoning for the endpoint and the model that it came from', async () => {
    const events = [chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'Yes.' }, 'stop')]
    const { server, model } = await start([{ events }, ANSWER, ANSWER])
    const { items } = await finishOf(model, { items: [asked] })
    await finishOf(model, { items: [asked, ...items, asked] })
    const client = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 })
    const other = openaiChat({ client, model: 'shuttle-2' })
    await finishOf(other, { items: [asked, ...items, asked] })
    const sent = server.requests.map(({ body }) => (body as { messages: unknown[] }).messages[1])
    expect(sent.slice(1)).toEqual([
      { role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' },
      { role: 'assistant', content: 'Yes.' },
    ])
  })
})
