import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { isBobbinError } from '../../../core/error.ts'
import type { Finish } from '../../../model/model-event.ts'
import type { CallItem, HistoryItem } from '../../../records/history-item.ts'
import type { LoopbackFault } from '../../../testing/loopback-fault.ts'
import {
  type LoopbackProvider,
  type LoopbackScript,
  loopbackProvider,
} from '../../../testing/loopback-provider.ts'
import { foundryAdapter } from '../../foundry/adapter.ts'
import { foundry } from '../../foundry/index.ts'
import { responsesAdapter } from './adapter.ts'
import { openaiResponses } from './model.ts'

const services = {
  'openai-responses': { adapter: responsesAdapter, connect: openaiResponses },
  foundry: { adapter: foundryAdapter, connect: foundry },
}
type Service = keyof typeof services

const running: LoopbackProvider[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

async function start(api: Service, streaming: boolean, ...exchanges: readonly LoopbackScript[]) {
  const { adapter, connect } = services[api]
  const server = await loopbackProvider({ api, exchanges, validate: adapter.validate })
  running.push(server)
  const client = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 })
  const modelOf = (isStreaming: boolean) =>
    connect({ client, model: 'gpt-5.4', streaming: isStreaming })
  return { server, modelOf, model: modelOf(streaming) }
}

const question: HistoryItem = {
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text: 'How warm is it in Oslo and Rome?' }],
}
const tools = [{ name: 'weather', description: 'Weather.', inputSchema: { type: 'object' } }]

const call = (city: string) => ({
  type: 'function_call',
  id: `fc_${city}`,
  call_id: `call_${city}`,
  name: 'weather',
  arguments: JSON.stringify({ city }),
  status: 'completed',
})
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed==' }
const answer = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: '4 and 18.', annotations: [] }],
}

/** One response in both forms, so that the request decides which is sent. */
function exchange(...output: readonly Record<string, unknown>[]) {
  const response = { id: 'resp_1', object: 'response', status: 'completed', output }
  const events = output.flatMap((item, output_index) => [
    {
      type: 'response.output_item.added',
      output_index,
      item: item['arguments'] === undefined ? item : { ...item, arguments: '' },
    },
    ...(item['arguments'] === undefined
      ? []
      : [
          {
            type: 'response.function_call_arguments.delta',
            output_index,
            delta: item['arguments'],
          },
        ]),
    { type: 'response.output_item.done', output_index, item },
  ])
  const created = { type: 'response.created', response: { ...response, output: [] } }
  return { body: response, events: [created, ...events, { type: 'response.completed', response }] }
}

async function finishOf(
  model: ReturnType<typeof openaiResponses>,
  items: readonly HistoryItem[],
  signal?: AbortSignal,
): Promise<Finish> {
  let finish: Finish | undefined
  const options = signal === undefined ? {} : { signal }
  for await (const event of model.stream({ items, tools }, options)) {
    if (event.type === 'finish') finish = event
  }
  if (finish === undefined) throw new Error('there is no finish')
  return finish
}

const settled = (item: HistoryItem): HistoryItem =>
  item.type === 'call'
    ? { ...item, result: { isError: false, parts: [{ type: 'text', text: '4 C' }] } }
    : item

const asksTwice = exchange(reasoning, call('oslo'), call('rome'))

describe.each(Object.keys(services) as Service[])('%s over HTTP', (api) => {
  it.each([true, false])('holds a conversation with tools, streaming: %s', async (streaming) => {
    const { server, model } = await start(api, streaming, asksTwice, exchange(answer))
    const first = await finishOf(model, [question])
    expect(first.items.map(({ type }) => type)).toEqual(['thought', 'call', 'call'])
    const second = await finishOf(model, [question, ...first.items.map(settled)])
    expect(second.items).toMatchObject([{ parts: [{ text: '4 and 18.' }] }])
    expect(server.requests.map(({ violations }) => violations)).toEqual([[], []])
    expect(JSON.stringify(server.requests[1]?.body)).toContain('sealed==')
  })

  it('gives the same streamed and whole', async () => {
    const { modelOf } = await start(api, true, asksTwice, asksTwice)
    const streamed = await finishOf(modelOf(true), [question])
    const whole = await finishOf(modelOf(false), [question])
    expect(streamed).toEqual(whole)
  })

  it.each([429, 500, 503, 529])('says that status %i may be tried again', async (status) => {
    const { model } = await start(api, true, { status })
    await expect(finishOf(model, [question])).rejects.toMatchObject({
      data: { status, isRetryable: true },
    })
  })
})

/** The calls that came out, or the code of the error, when this goes wrong on the way. */
async function outcomeOf(fault: LoopbackFault) {
  const { model } = await start('openai-responses', true, { ...asksTwice, fault })
  try {
    const { items } = await finishOf(model, [question])
    const calls = items.filter((item): item is CallItem => item.type === 'call')
    return calls.map(({ id, args }) => [id, args])
  } catch (error) {
    if (!isBobbinError(error)) throw error
    return error.code
  }
}

describe('a stream that goes wrong', () => {
  const bothCalls = [
    ['call_oslo', { city: 'oslo' }],
    ['call_rome', { city: 'rome' }],
  ]
  const places = asksTwice.events.map((_, at) => at)

  it.each(['cut', 'reset', 'corrupt', 'invalid-utf8'] as const)(
    'by %s at any event gives an error and no call',
    async (type) => {
      for (const at of places) {
        expect(await outcomeOf({ type, at })).toMatch(/^E_(STREAM_BROKEN|PROVIDER_UNREACHABLE)$/)
      }
    },
  )

  it('by an error event in any place gives that error and no call', async () => {
    for (const at of places) {
      expect(await outcomeOf({ type: 'error', at, status: 500 })).toBe('E_PROVIDER_UNAVAILABLE')
    }
  })

  it('by an event that comes twice gives each call once', async () => {
    for (const at of places) expect(await outcomeOf({ type: 'duplicate', at })).toEqual(bothCalls)
  })

  it('by events that change places gives whole calls or none', async () => {
    for (const at of places.slice(0, -1)) {
      const outcome = await outcomeOf({ type: 'reorder', at })
      expect([bothCalls, [bothCalls[0]], 'E_STREAM_BROKEN']).toContainEqual(outcome)
    }
  })

  it('by a silence ends when the caller has had enough', async () => {
    const { model } = await start('openai-responses', true, {
      ...asksTwice,
      fault: { type: 'stall', at: 5 },
    })
    const signal = AbortSignal.timeout(100)
    await expect(finishOf(model, [question], signal)).rejects.toMatchObject({
      name: expect.stringMatching(/Abort|Timeout/),
    })
  })
})
