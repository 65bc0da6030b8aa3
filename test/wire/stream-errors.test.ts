import { describe, expect, it } from 'vitest'
import { type WireApi, wire } from '../../src/wire/index.ts'
import { connectModel, finishOf } from './connect-model.ts'
import { REQUEST } from './model-sample.ts'

const MESSAGE = 'Failed to call a function.'

/** How each protocol, or a server that speaks it, says that a response failed after status 200. */
const ERRORS: readonly [WireApi, string, (more: object) => object][] = [
  ['openai-chat', 'an error', (more) => ({ error: { message: MESSAGE, ...more } })],
  ['openai-chat', 'an object', (more) => ({ object: 'error', message: MESSAGE, ...more })],
  [
    'openai-chat',
    'an error beside its status',
    (more) => ({ error: { message: MESSAGE }, ...more }),
  ],
  ['openai-chat', 'a text beside its status', (more) => ({ error: MESSAGE, ...more })],
  ['openai-responses', 'an event', (more) => ({ type: 'error', message: MESSAGE, ...more })],
  [
    'openai-responses',
    'an error',
    (more) => ({ type: 'error', error: { message: MESSAGE, ...more } }),
  ],
  [
    'openai-responses',
    'a failed response',
    (more) => ({ type: 'response.failed', response: { error: { message: MESSAGE, ...more } } }),
  ],
  [
    'openai-responses',
    'an error beside its status',
    (more) => ({ type: 'error', error: { message: MESSAGE }, ...more }),
  ],
  ['foundry', 'an event', (more) => ({ type: 'error', message: MESSAGE, ...more })],
  [
    'anthropic-messages',
    'an error',
    (more) => ({ type: 'error', error: { type: 'some_error', message: MESSAGE, ...more } }),
  ],
  [
    'anthropic-messages',
    'an error beside its status',
    (more) => ({ type: 'error', error: { type: 'some_error', message: MESSAGE }, ...more }),
  ],
  [
    'gemini-interactions',
    'an event',
    (more) => ({ event_type: 'error', error: { message: MESSAGE, ...more } }),
  ],
  [
    'gemini-interactions',
    'a failed interaction',
    (more) => ({
      event_type: 'interaction.completed',
      interaction: { status: 'failed', errors: [{ message: MESSAGE, ...more }] },
    }),
  ],
]

describe.each(ERRORS)('a stream of %s that holds %s', (api, _, event) => {
  const failure = async (more: object) => {
    const { model } = await connectModel(api, [{ events: [event(more)] }])
    return finishOf(model, REQUEST).catch((error: unknown) => error)
  }

  it.each([
    ['E_PROVIDER_BAD_REQUEST', false, { status_code: 400 }],
    ['E_PROVIDER_BAD_REQUEST', false, { status_code: '422' }],
    ['E_PROVIDER_BAD_REQUEST', false, { status: 400, code: 'tool_use_failed' }],
    ['E_PROVIDER_BAD_REQUEST', false, { code: 400 }],
    ['E_PROVIDER_AUTH', false, { status_code: 403 }],
    ['E_PROVIDER_RATE_LIMITED', true, { status_code: 429 }],
    ['E_PROVIDER_UNAVAILABLE', true, { status_code: 503 }],
  ])('is %s, retryable: %s, with %j', async (code, isRetryable, more) => {
    expect(await failure(more)).toMatchObject({ code, data: { isRetryable } })
  })

  it('says the status', async () => {
    expect(await failure({ status_code: 400 })).toMatchObject({
      message: `\`${api}\` answered (400): ${MESSAGE}`,
    })
  })
})

it.each([
  ['openai-chat', (error: object) => ({ error })],
  ['openai-responses', (error: object) => ({ type: 'error', error })],
] as const)('%s does not try a refused request again that names no status', (api, event) => {
  const error = { message: MESSAGE, type: 'invalid_request_error', code: 'tool_use_failed' }
  expect(() => wire(api).decodeStream([event(error)])).toThrow(
    expect.objectContaining({
      code: 'E_PROVIDER_BAD_REQUEST',
      data: expect.objectContaining({ isRetryable: false }),
    }),
  )
})

it.each([
  [{ code: 400 }, 'E_PROVIDER_BAD_REQUEST'],
  [{ status_code: 400 }, 'E_PROVIDER_BAD_REQUEST'],
  [{ code: 400, status: 'UNAVAILABLE' }, 'E_PROVIDER_BAD_REQUEST'],
  [{ code: 503, status: 'UNAVAILABLE' }, 'E_PROVIDER_UNAVAILABLE'],
  [{ code: 429, status: 'RESOURCE_EXHAUSTED' }, 'E_PROVIDER_RATE_LIMITED'],
])('gemini classifies %j as %s', (more, code) => {
  const failing = () => wire('gemini').decodeStream([{ error: { message: MESSAGE, ...more } }])
  expect(failing).toThrow(expect.objectContaining({ code }))
})
