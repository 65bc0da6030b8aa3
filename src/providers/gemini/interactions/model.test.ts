import { GoogleGenAI } from '@google/genai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { finishOf, settled } from '../../../../test/wire/connect-model.ts'
import { ANSWER, REQUEST } from '../../../../test/wire/model-sample.ts'
import { type LoopbackExchange, loopbackProvider } from '../../../testing/index.ts'
import { TurnRunner } from '../../../turn/turn-runner.ts'
import { wire } from '../../../wire/index.ts'
import { modelSample } from './fixtures/model-sample.ts'
import { geminiInteractions } from './model.ts'

const api = 'gemini-interactions'
const { ask, answer, sent, model: name } = modelSample()

async function serve(...exchanges: readonly LoopbackExchange[]) {
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const bodies = () => server.requests.map(({ body }) => body)
  return { server, bodies }
}

const clientAt = (baseUrl: string) => new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl } })

const text = (words: string, status: string, more: object = {}) => {
  const interaction = { id: 'v1', object: 'interaction', status, ...more }
  const step = { type: 'model_output', content: [{ type: 'text', text: words }] }
  return {
    body: { ...interaction, steps: [step] },
    events: [
      { event_type: 'interaction.created', interaction: { id: 'v1', status: 'in_progress' } },
      { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
      { event_type: 'step.delta', index: 0, delta: { type: 'text', text: words } },
      { event_type: 'step.stop', index: 0 },
      { event_type: 'interaction.completed', interaction },
    ],
  }
}
const half = text('Rise and ', 'requires_continuation', { continuation_token: 'dA==' })

describe.each([
  ['streaming', true],
  ['whole', false],
])('geminiInteractions through Google’s client, %s', (_, streaming) => {
  it('holds a two-step conversation with tools', async () => {
    const { server, bodies } = await serve(ask, answer)
    const model = geminiInteractions({ client: clientAt(server.url), model: name, streaming })
    const first = await finishOf(model, REQUEST)
    expect(first).toMatchObject({ reason: 'tools', usage: { inputTokens: 3, outputTokens: 4 } })
    const items = [...REQUEST.items, ...settled(first.items)]
    const second = await finishOf(model, { ...REQUEST, items })
    expect(second).toMatchObject({ reason: 'stop', items: [{ parts: [{ text: ANSWER }] }] })
    expect(bodies()[1]).toEqual(sent(streaming))
  })

  it.each([
    [400, 'E_PROVIDER_BAD_REQUEST'],
    [401, 'E_PROVIDER_AUTH'],
    [404, 'E_PROVIDER_NOT_FOUND'],
  ])('tells status %i as %s', async (status, code) => {
    const { server } = await serve({ status })
    const model = geminiInteractions({ client: clientAt(server.url), model: name, streaming })
    await expect(finishOf(model, REQUEST)).rejects.toMatchObject({ code, data: { api, status } })
  })

  it('gives one response for one that took several requests', async () => {
    const { server, bodies } = await serve(half, text('fall.', 'completed'))
    const model = geminiInteractions({ client: clientAt(server.url), model: name, streaming })
    const { text: said } = await new TurnRunner({ model }).run({ message: 'Tides?' })
    expect(said).toBe('Rise and fall.')
    expect(bodies()).toMatchObject([{ store: false }, { continuation_token: 'dA==' }])
  })
})

describe.each([
  ['streaming', true],
  ['whole', false],
])('geminiInteractions with a key, %s', (_, streaming) => {
  const open = (baseUrl: string) =>
    geminiInteractions({ apiKey: 'secret', baseUrl, model: name, streaming })

  it('sends the same request with the token until a long response has ended', async () => {
    const later = text('fall and ', 'requires_continuation', { continuation_token: 'dQ==' })
    const { server, bodies } = await serve(half, later, text('rise.', 'completed'))
    const { text: said, usage } = await new TurnRunner({ model: open(server.url) }).run({
      message: 'Tides?',
    })
    expect(said).toBe('Rise and fall and rise.')
    expect(usage).toBeDefined()
    const [first, ...others] = bodies() as [object]
    expect(others).toEqual([
      { ...first, continuation_token: 'dA==' },
      { ...first, continuation_token: 'dQ==' },
    ])
  })

  it('stops when it is given the same token again', async () => {
    const { server, bodies } = await serve(half, half, half)
    expect(await finishOf(open(server.url), REQUEST)).toMatchObject({
      reason: 'pause',
      items: [{ parts: [{ text: 'Rise and Rise and ' }] }],
    })
    expect(bodies()).toHaveLength(2)
  })

  it('gives no part of a long response whose next request fails', async () => {
    const { server } = await serve(half, { status: 503 })
    await expect(finishOf(open(server.url), REQUEST)).rejects.toMatchObject({
      code: 'E_PROVIDER_UNAVAILABLE',
    })
  })

  it('counts all of a long response against its size', async () => {
    const { server } = await serve(half, text('x'.repeat(2000), 'completed'))
    const model = geminiInteractions({
      apiKey: 'x',
      baseUrl: server.url,
      model: name,
      streaming,
      maxResponseBytes: 2000,
    })
    await expect(finishOf(model, REQUEST)).rejects.toMatchObject({ code: 'E_RESPONSE_TOO_LARGE' })
  })

  it('sends the key as a header, and goes through the given `fetch`', async () => {
    const { server } = await serve(answer)
    const asked: string[] = []
    const model = geminiInteractions({
      apiKey: 'secret',
      baseUrl: `${server.url}/`,
      model: name,
      streaming,
      fetch: (input, init) => {
        asked.push(input as string)
        return fetch(input, init)
      },
    })
    await finishOf(model, REQUEST)
    expect(asked).toEqual([`${server.url}/v1beta/interactions`])
    expect(server.requests[0]?.headers).toMatchObject({ 'x-goog-api-key': 'secret' })
  })
})

describe('geminiInteractions', () => {
  it.each([
    ['apiKey', { model: name }],
    ['apiKey', { model: name, apiKey: '' }],
    ['client', { model: name, client: {} }],
    ['model', { apiKey: 'x' }],
    ['baseUrl', { apiKey: 'x', model: name, baseUrl: 'nowhere' }],
    ['fetch', { apiKey: 'x', model: name, fetch: 'yes' }],
    ['temperature', { apiKey: 'x', model: name, temperature: 1 }],
    ['apiKey', { apiKey: 'x', model: name, client: clientAt('http://127.0.0.1:1') }],
  ])('refuses a wrong `%s` when it is made', (path, options) => {
    expect(() => geminiInteractions(options as never)).toThrow(
      expect.objectContaining({ code: 'E_INVALID_MODEL', data: expect.objectContaining({ path }) }),
    )
  })

  it('goes on with signatures from the client when it is given a key, and the other way round', async () => {
    const { server, bodies } = await serve(ask, answer)
    const first = await finishOf(
      geminiInteractions({ client: clientAt(server.url), model: name }),
      REQUEST,
    )
    const keyed = geminiInteractions({ apiKey: 'x', baseUrl: server.url, model: name })
    const items = [...REQUEST.items, ...settled(first.items)]
    await finishOf(keyed, { ...REQUEST, items })
    expect(bodies()[1]).toEqual(sent(true))
  })
})

describe('geminiInteractions with a client', () => {
  it('reads a whole answer to a request for a stream', async () => {
    const { body } = text('Rise.', 'completed')
    const client = { interactions: { create: async () => ({ ...body, sdkHttpResponse: {} }) } }
    const model = geminiInteractions({ client: client as never, model: name })
    expect(await finishOf(model, REQUEST)).toMatchObject({
      reason: 'stop',
      items: [{ type: 'message', parts: [{ text: 'Rise.' }] }],
    })
  })
})
