import { type GenerateContentParameters, GoogleGenAI } from '@google/genai'
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import type { ModelRequest } from '../../model/model.ts'
import type { Finish, ModelEvent } from '../../model/model-event.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import {
  type LoopbackExchange,
  type LoopbackProvider,
  loopbackProvider,
} from '../../testing/loopback-provider.ts'
import { type GeminiOptions, gemini } from './index.ts'
import { requestParams } from './request.ts'
import { validateRequest } from './validate.ts'

const running: LoopbackProvider[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

/** The official client at a server of ours. */
async function connect(
  exchanges: readonly LoopbackExchange[],
  options: Partial<Omit<GeminiOptions, 'client'>> = {},
) {
  const server = await loopbackProvider({ api: 'gemini', exchanges, validate: validateRequest })
  running.push(server)
  const client = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: server.url } })
  const model = gemini({ client, model: 'gemini-3-pro-preview', ...options })
  const bodyOf = (index: number) => server.requests[index]?.body as Record<string, unknown>
  return { model, server, bodyOf }
}

const signed = {
  functionCall: { name: 'get_weather', args: { city: 'Oslo' }, id: 'k3v9x1aa' },
  thoughtSignature: 'c2lnbmVk',
}
const sibling = { functionCall: { name: 'get_weather', args: { city: 'Bodø' }, id: 'p0q8w2bb' } }
const chunk = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  responseId: 'r1',
})
const stop = { finishReason: 'STOP' }
const asked = [chunk([{ text: 'Two.', thought: true }]), chunk([signed, sibling]), chunk([], stop)]
const answered = [chunk([{ text: 'Four ' }]), chunk([{ text: 'degrees.' }], stop)]
const whole = (...parts: object[]) => ({ body: chunk(parts, stop) })

async function run(events: AsyncIterable<ModelEvent>): Promise<Finish> {
  let finish: Finish | undefined
  for await (const event of events) if (event.type === 'finish') finish = event
  if (finish === undefined) throw new Error('there was no finish')
  return finish
}

const question: HistoryItem = {
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text: 'Weather?' }],
}
const request: ModelRequest = {
  instructions: 'Be brief.',
  items: [question],
  tools: [{ name: 'get_weather', description: 'Weather.', inputSchema: { type: 'object' } }],
}

function settle(items: readonly HistoryItem[]): readonly HistoryItem[] {
  const result = { isError: false, parts: [{ type: 'text' as const, text: '4 C' }] }
  return items.map((item) => (item.type === 'call' ? { ...item, result } : item))
}

describe('gemini', () => {
  it.each([
    ['streaming', true, [{ events: asked }, { events: answered }]],
    ['streaming byte by byte', true, [{ events: asked, chunkBytes: 1 }, { events: answered }]],
    [
      'whole',
      false,
      [whole({ text: 'Two.', thought: true }, signed, sibling), whole({ text: 'Four degrees.' })],
    ],
  ])('holds a two-step conversation with tools, %s', async (_, streaming, exchanges) => {
    const { model, bodyOf } = await connect(exchanges, { streaming })
    const first = await run(model.stream(request))
    expect(first).toMatchObject({
      reason: 'tools',
      items: [{ type: 'thought' }, { id: 'k3v9x1aa' }, { id: 'p0q8w2bb' }],
    })
    const items = [question, ...settle(first.items)]
    const second = await run(model.stream({ ...request, items }))
    expect(second).toMatchObject({
      reason: 'stop',
      items: [{ parts: [{ text: 'Four degrees.' }] }],
    })
    const answer = (id: string) => ({
      functionResponse: { id, name: 'get_weather', response: { output: '4 C' } },
    })
    expect(bodyOf(1)).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'get_weather' }] }],
      contents: [
        { role: 'user', parts: [{ text: 'Weather?' }] },
        { role: 'model', parts: [{ text: 'Two.', thought: true }, signed, sibling] },
        { role: 'user', parts: [answer('k3v9x1aa'), answer('p0q8w2bb')] },
      ],
    })
  })

  it('runs nothing by itself and sends hosted tools and parameters, which win', async () => {
    const { model, bodyOf } = await connect([whole({ text: 'ok' })], {
      streaming: false,
      hostedTools: [{ googleSearch: {} }],
      params: { temperature: 0, toolConfig: { includeServerSideToolInvocations: true } },
    })
    await run(model.stream({ ...request, toolChoice: { tool: 'get_weather' } }))
    expect(bodyOf(0)).toMatchObject({
      generationConfig: { temperature: 0 },
      tools: [{ functionDeclarations: [{ name: 'get_weather' }] }, { googleSearch: {} }],
      toolConfig: {
        includeServerSideToolInvocations: true,
        functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_weather'] },
      },
    })
  })

  it('reads arguments that Vertex AI streams leaf by leaf', async () => {
    const piece = (functionCall: object) => chunk([{ functionCall }])
    const leaf = (stringValue: string, more: object = {}) => [
      { jsonPath: '$.city', stringValue, ...more },
    ]
    const events = [
      chunk([
        { functionCall: { name: 'get_weather', willContinue: true }, thoughtSignature: 'c2ln' },
      ]),
      piece({ partialArgs: leaf('Os', { willContinue: true }), willContinue: true }),
      piece({ partialArgs: leaf('lo'), willContinue: true }),
      piece({}),
      chunk([{ text: '' }], stop),
    ]
    const exchanges = [{ events }, { events: answered }]
    const server = await loopbackProvider({ api: 'gemini', exchanges, validate: validateRequest })
    running.push(server)
    const httpOptions = { baseUrl: server.url }
    const client = new GoogleGenAI({ vertexai: true, apiKey: 'test', httpOptions })
    const toolConfig = { functionCallingConfig: { streamFunctionCallArguments: true } }
    const model = gemini({ client, model: 'gemini-3-pro', params: { toolConfig } })
    const told: ModelEvent[] = []
    for await (const event of model.stream(request)) told.push(event)
    const first = told.find((event) => event.type === 'finish')
    expect(told.flatMap((event) => (event.type === 'toolInput' ? [event.delta] : []))).toEqual([
      '{"city":"Os',
      'lo"',
      '}',
    ])
    expect(first?.items).toMatchObject([{ tool: 'get_weather', args: { city: 'Oslo' } }])
    await run(model.stream({ ...request, items: [question, ...settle(first?.items ?? [])] }))
    expect(server.requests[1]?.body).toMatchObject({
      toolConfig,
      contents: [
        {},
        {
          role: 'model',
          parts: [
            {
              functionCall: { name: 'get_weather', args: { city: 'Oslo' } },
              thoughtSignature: 'c2ln',
            },
          ],
        },
        { parts: [{ functionResponse: { name: 'get_weather' } }] },
      ],
    })
  })

  it('asks for output of a shape', async () => {
    const { model, bodyOf } = await connect([whole({ text: '{}' })], { streaming: false })
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    await run(
      model.stream({ items: [question], output: { name: 'x', schema }, toolChoice: 'none' }),
    )
    expect(bodyOf(0)).toMatchObject({
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    })
    expect(bodyOf(0)).not.toHaveProperty('toolConfig')
  })

  it('never cuts a call loose, wherever the stream ends', async () => {
    const events = [...asked.slice(0, 2), chunk([{ text: '' }], stop)]
    for (const type of ['cut', 'reset'] as const) {
      for (let at = 0; at < events.length; at++) {
        const { model } = await connect([{ events, fault: { type, at } }])
        await expect(run(model.stream(request))).rejects.toMatchObject({ name: 'BobbinError' })
        const within = await connect([{ events, fault: { type, at, byte: 20 } }])
        await expect(run(within.model.stream(request))).rejects.toMatchObject({
          name: 'BobbinError',
        })
      }
    }
  })

  it.each([
    ['a corrupt chunk', { type: 'corrupt', at: 1 }, 'E_STREAM_BROKEN'],
    ['an end within a chunk', { type: 'cut', at: 1, byte: 20 }, 'E_STREAM_BROKEN'],
    ['an end between chunks', { type: 'cut', at: 2 }, 'E_STREAM_BROKEN'],
    ['an error after 200', { type: 'error', at: 2, status: 503 }, 'E_PROVIDER_UNAVAILABLE'],
    ['a quota error after 200', { type: 'error', at: 1, status: 429 }, 'E_PROVIDER_RATE_LIMITED'],
  ] as const)('gives an error for %s', async (_, fault, code) => {
    const { model } = await connect([{ events: asked, fault }])
    await expect(run(model.stream(request))).rejects.toMatchObject({ code })
  })

  it('cannot see bytes that are not UTF-8, because the client replaces them', async () => {
    const text = JSON.stringify(chunk([{ text: 'Go?d' }], stop)).replace('?', '\xff')
    const { model } = await connect([{ recording: Buffer.from(`data: ${text}\n\n`, 'latin1') }])
    expect(await run(model.stream(request))).toMatchObject({
      items: [{ parts: [{ text: 'Go\uFFFDd' }] }],
    })
  })

  it.each([
    [
      400,
      { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no' } },
      'E_PROVIDER_BAD_REQUEST',
    ],
    [
      400,
      {
        error: {
          status: 'INVALID_ARGUMENT',
          message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
        },
      },
      'E_PROVIDER_CONTEXT_TOO_LONG',
    ],
    [
      400,
      {
        error: {
          status: 'INVALID_ARGUMENT',
          message: 'API key not valid.',
          details: [{ '@type': 'ErrorInfo', reason: 'API_KEY_INVALID' }],
        },
      },
      'E_PROVIDER_AUTH',
    ],
    [403, { error: { status: 'PERMISSION_DENIED' } }, 'E_PROVIDER_AUTH'],
    [404, { error: { status: 'NOT_FOUND' } }, 'E_PROVIDER_NOT_FOUND'],
    [500, { error: { status: 'INTERNAL' } }, 'E_PROVIDER_UNAVAILABLE'],
    [503, 'no JSON at all', 'E_PROVIDER_UNAVAILABLE'],
  ])('maps status %i with %j', async (status, body, code) => {
    const headers = typeof body === 'string' ? { 'content-type': 'text/plain' } : {}
    const { model } = await connect([{ status, body, headers }])
    await expect(run(model.stream(request))).rejects.toMatchObject({ code, data: { status } })
  })

  it('says when it may be tried again', async () => {
    const details = [{ '@type': 'RetryInfo', retryDelay: '7.5s' }]
    const body = { error: { status: 'RESOURCE_EXHAUSTED', message: 'quota', details } }
    const { model } = await connect([{ status: 429, body }])
    await expect(run(model.stream(request))).rejects.toMatchObject({
      code: 'E_PROVIDER_RATE_LIMITED',
      data: { isRetryable: true, retryAfterMs: 7500 },
    })
  })

  it('gives an error where nobody listens', async () => {
    const { model, server } = await connect([])
    await server.close()
    await expect(run(model.stream(request))).rejects.toMatchObject({
      code: 'E_PROVIDER_UNREACHABLE',
    })
  })

  it('passes an abort on as it is', async () => {
    const { model } = await connect([{ events: asked, fault: { type: 'stall', at: 1 } }])
    const controller = new AbortController()
    const outcome = run(model.stream(request, { signal: controller.signal }))
    setTimeout(() => controller.abort(new Error('enough')), 20)
    await expect(outcome).rejects.not.toMatchObject({ name: 'BobbinError' })
  })

  it('keeps state of one model and backend from another', () => {
    const client = new GoogleGenAI({ apiKey: 'test' })
    const vertex = new GoogleGenAI({ vertexai: true, apiKey: 'test' })
    expect(gemini({ client, model: 'models/gemini-2.5-flash-001' })).toMatchObject({
      api: 'gemini',
      provider: 'google',
      endpoint: 'developer',
      modelFamily: 'gemini-2.5-flash',
    })
    expect(gemini({ client: vertex, model: 'gemini-3-pro' }).endpoint).toBe('vertex')
  })

  it('makes requests of the client’s own type', () => {
    expectTypeOf(requestParams).returns.toEqualTypeOf<GenerateContentParameters>()
  })
})
