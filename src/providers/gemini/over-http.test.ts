import { GoogleGenAI } from '@google/genai'
import { describe, expect, it } from 'vitest'
import { connectModel, finishOf } from '../../../test/wire/connect-model.ts'
import { REQUEST } from '../../../test/wire/model-sample.ts'
import { samplesOf } from '../../../test/wire/provider-samples.ts'
import { gemini } from './index.ts'

const { answer } = samplesOf('gemini').model

/** Every member that both ways send, in the client's words. */
const params = {
  systemInstruction: ['Be kind.', { text: 'And brief.' }],
  temperature: 0.5,
  maxOutputTokens: 9,
  stopSequences: ['x'],
  safetySettings: [{ category: 'c', threshold: 't' }],
  cachedContent: 'cachedContents/1',
  thinkingConfig: { includeThoughts: true },
  toolConfig: { includeServerSideToolInvocations: true },
  responseModalities: ['TEXT'],
  seed: 7,
  store: false,
  automaticContinuation: false,
} as never
const hostedTools = [{ googleSearch: {} }, { codeExecution: {} }]

describe('gemini with a key', () => {
  it('sends what the client would send', async () => {
    const { server } = await connectModel('gemini', [answer, answer])
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: server.url } })
    const common = { model: 'gemini-3-pro', params, hostedTools }
    await finishOf(gemini({ client, ...common }), REQUEST)
    await finishOf(gemini({ apiKey: 'k', baseUrl: `${server.url}/`, ...common }), REQUEST)
    const [ofClient, ours] = server.requests
    expect(ours?.body).toEqual(ofClient?.body)
    expect(ours?.path).toBe(ofClient?.path)
    expect(ours?.headers['x-goog-api-key']).toBe('k')
  })

  it('takes a `fetch` in the place of a key', async () => {
    const { server } = await connectModel('gemini', [answer])
    const signed: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('authorization', 'Bearer token')
      return fetch(input, { ...init, headers })
    }
    await finishOf(gemini({ fetch: signed, baseUrl: server.url, model: 'm' }), REQUEST)
    const { headers } = server.requests[0] ?? {}
    expect(headers).toMatchObject({ authorization: 'Bearer token' })
    expect(headers).not.toHaveProperty('x-goog-api-key')
    expect(() => gemini({ model: 'm' } as never)).toThrow('`apiKey` of `gemini` must be a key')
  })

  it('uses the `fetch` that it is given, and lets no redirect take the key elsewhere', async () => {
    const asked: [string, RequestInit | undefined][] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      asked.push([input as string, init])
      return Response.json(answer.body)
    }
    const model = gemini({ apiKey: 'k', model: 'tunedModels/mine', fetch, streaming: false })
    await finishOf(model, REQUEST)
    expect(asked).toMatchObject([
      [
        'https://generativelanguage.googleapis.com/v1beta/tunedModels/mine:generateContent',
        { method: 'POST', redirect: 'error' },
      ],
    ])
  })

  it('reads chunks that the client would not understand, and integers as they were written', async () => {
    const text =
      '{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1e400}}}]},"finishReason":"STOP"}]}'
    const { model } = await connectModel('gemini with a key', [{ events: [text] }])
    const { items } = await finishOf(model, REQUEST)
    expect(items).toMatchObject([{ type: 'call', fault: { path: expect.stringContaining('n') } }])
  })

  it('belongs to the same backend as the client of the Developer API', () => {
    const client = new GoogleGenAI({ apiKey: 'k' })
    const { endpoint, modelFamily } = gemini({ client, model: 'gemini-3-pro' })
    expect(gemini({ apiKey: 'k', model: 'gemini-3-pro' })).toMatchObject({ endpoint, modelFamily })
  })

  it.each([
    [{}, 'apiKey'],
    [{ apiKey: '' }, 'apiKey'],
    [{ apiKey: 'k', baseUrl: 'nowhere' }, 'baseUrl'],
    [{ apiKey: 'k', fetch: true }, 'fetch'],
    [{ apiKey: 'k', client: new GoogleGenAI({ apiKey: 'k' }) }, 'apiKey'],
  ])('refuses %j', (options, path) => {
    expect(() => gemini({ model: 'm', ...options } as never)).toThrow(
      expect.objectContaining({ code: 'E_INVALID_MODEL', data: expect.objectContaining({ path }) }),
    )
  })
})
