import type { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime'
import { describe, expect, it } from 'vitest'
import { connectModel, finishOf, settled } from '../../../test/wire/connect-model.ts'
import { REQUEST } from '../../../test/wire/model-sample.ts'
import type { Repair } from '../../model/wire/encode-groups.ts'
import { modelSample } from './fixtures/model-sample.ts'
import { bedrockConverse } from './index.ts'
import { failureOfClient } from './wire/fail.ts'

const { ask, answer } = modelSample()
const FABLE = 'us.anthropic.claude-fable-5-1-v1:0'

describe('bedrockConverse', () => {
  it('sends bytes as base64, and reads them back', async () => {
    const picture = {
      type: 'media',
      kind: 'image',
      mimeType: 'image/png',
      source: { type: 'base64', data: 'iVBORw0KGgo=' },
    } as const
    const { model, bodies } = await connectModel('bedrock-converse', [answer])
    await finishOf(model, { items: [{ type: 'message', role: 'user', parts: [picture] }] })
    expect(bodies()).toEqual([
      {
        messages: [
          {
            role: 'user',
            content: [{ image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }],
          },
        ],
      },
    ])
  })

  it('asks for the model that it is given, whatever its name holds', async () => {
    const model =
      'arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.anthropic.claude-x-v1:0'
    const { server, open } = await connectModel('bedrock-converse', [answer, answer])
    await finishOf(open({ model }), REQUEST)
    await finishOf(open({ model, streaming: false }), REQUEST)
    expect(server.requests.map(({ path }) => decodeURIComponent(path))).toEqual([
      `/model/${model}/converse-stream`,
      `/model/${model}/converse`,
    ])
  })

  it.each([
    ['us.anthropic.claude-fable-5-1-v1:0', true],
    ['anthropic.claude-opus-4-6-v1:0', false],
    ['openai.gpt-5.6-luna', false],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/abc', true],
  ])('leaves dead reasoning of %s out: %s', async (model, isLeftOut) => {
    const { open, bodies } = await connectModel('bedrock-converse', [ask, answer, answer])
    const bound = open({ model })
    const first = await finishOf(bound, REQUEST)
    const items = [...REQUEST.items, ...settled(first.items)]
    await finishOf(bound, { ...REQUEST, items })
    const repairs: Repair[] = []
    const onRepair = (repair: Repair) => void repairs.push(repair)
    await finishOf(bound, { ...REQUEST, instructions: 'Be long.', items }, { onRepair })
    const sent = bodies().map((body) => JSON.stringify(body).includes('reasoningContent'))
    expect(sent).toEqual([false, true, !isLeftOut])
    expect(repairs.map(({ kind }) => kind)).toEqual(isLeftOut ? ['dead-thinking'] : [])
  })

  it('keeps reasoning when only cache points are added', async () => {
    const { open, bodies } = await connectModel('bedrock-converse', [ask, answer])
    const first = await finishOf(open({ model: FABLE }), REQUEST)
    const point = { cachePoint: { type: 'default' } }
    const marked = open({ model: FABLE, params: { system: [point] } })
    await finishOf(marked, { ...REQUEST, items: [...REQUEST.items, ...settled(first.items)] })
    expect(bodies()[1]).toMatchObject({ system: [{ text: 'Be brief.' }, point] })
    expect(JSON.stringify(bodies()[1])).toContain('reasoningContent')
  })

  it('does not follow a redirect, and says so', async () => {
    const { model } = await connectModel('bedrock-converse', [{ status: 307, body: {} }])
    await expect(finishOf(model, REQUEST)).rejects.toMatchObject({
      code: expect.stringMatching(/^E_PROVIDER_/),
      message: expect.not.stringContaining('is not a function'),
    })
  })

  it('knows the error of a response that no client has read', () => {
    const error = { __type: 'com.amazon.bedrock#ThrottlingException', message: 'Slow down.' }
    const headers = new Headers({ 'retry-after': '2' })
    expect(failureOfClient({ status: 429, error, headers })).toMatchObject({
      code: 'E_PROVIDER_RATE_LIMITED',
      data: { status: 429, providerCode: 'ThrottlingException', retryAfterMs: 2000 },
    })
  })

  it('reads what a client of another make has parsed', async () => {
    async function* stream() {
      yield* ask.events
    }
    const client = { config: {}, send: async () => ({ stream: stream(), ...(ask.body as object) }) }
    const options = { client: client as unknown as BedrockRuntimeClient, model: 'm' }
    const streamed = await finishOf(bedrockConverse(options), REQUEST)
    const whole = await finishOf(bedrockConverse({ ...options, streaming: false }), REQUEST)
    expect(streamed.items).toMatchObject([{ type: 'thought' }, { type: 'call' }, { type: 'call' }])
    expect(whole.items).toEqual(streamed.items)
    const small = bedrockConverse({ ...options, maxResponseBytes: 100 })
    await expect(finishOf(small, REQUEST)).rejects.toMatchObject({ code: 'E_RESPONSE_TOO_LARGE' })
  })

  it.each([
    [Object.assign(new Error('none'), { name: 'CredentialsProviderError' }), 'E_PROVIDER_AUTH'],
    [new Error('Region is missing'), 'E_PROVIDER_BAD_REQUEST'],
    [new Error('getaddrinfo ENOTFOUND'), 'E_PROVIDER_UNREACHABLE'],
    [new Error('Truncated event message received.'), 'E_STREAM_BROKEN'],
    [new SyntaxError('Unexpected end of JSON input'), 'E_STREAM_BROKEN'],
  ])('gives what the client throws (%s) as %s', async (error, code) => {
    const client = {
      config: {},
      send: async () => {
        throw error
      },
    }
    const model = bedrockConverse({ client: client as unknown as BedrockRuntimeClient, model: 'm' })
    await expect(finishOf(model, REQUEST)).rejects.toMatchObject({ code })
  })
})
