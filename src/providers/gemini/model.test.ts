import { type GenerateContentParameters, GoogleGenAI } from '@google/genai'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { connectModel, finishOf, settled } from '../../../test/wire/connect-model.ts'
import { REQUEST } from '../../../test/wire/model-sample.ts'
import { samplesOf } from '../../../test/wire/provider-samples.ts'
import type { ModelEvent } from '../../model/events/model-event.ts'
import { gemini } from './index.ts'
import { requestBody } from './request.ts'

const { answer } = samplesOf('gemini').model
const chunk = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
})
const stop = { finishReason: 'STOP' }

describe('gemini', () => {
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
    const { server } = await connectModel('gemini', [{ events }, answer])
    const httpOptions = { baseUrl: server.url }
    const client = new GoogleGenAI({ vertexai: true, apiKey: 'test', httpOptions })
    const toolConfig = { functionCallingConfig: { streamFunctionCallArguments: true } }
    const model = gemini({ client, model: 'gemini-3-pro', params: { toolConfig } })
    const told: ModelEvent[] = []
    for await (const event of model.stream(REQUEST)) told.push(event)
    const first = told.find((event) => event.type === 'finish')
    expect(told.flatMap((event) => (event.type === 'toolInput' ? [event.delta] : []))).toEqual([
      '{"city":"Os',
      'lo"',
      '}',
    ])
    expect(first?.items).toMatchObject([{ tool: 'get_weather', args: { city: 'Oslo' } }])
    await finishOf(model, {
      ...REQUEST,
      items: [...REQUEST.items, ...settled(first?.items ?? [])],
    })
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
    expectTypeOf(requestBody).returns.toEqualTypeOf<GenerateContentParameters>()
  })
})
