import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openaiResponses } from '../providers/openai/index.ts'
import { eventRecorder } from '../testing/event-recorder.ts'
import type { LoopbackFault } from '../testing/loopback-fault.ts'
import {
  type LoopbackExchange,
  type LoopbackProvider,
  loopbackProvider,
} from '../testing/loopback-provider.ts'
import { Tool } from '../tools/tool.ts'
import { wire } from '../wire/index.ts'
import { TurnRunner } from './turn-runner.ts'

const running: LoopbackProvider[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

const call = (more: object = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'pay',
  arguments: '{"sum":1}',
  status: 'completed',
  ...more,
})
const added = (item: object, output_index = 0) => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const done = (item: object, output_index = 0) => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const delta = (text: string) => ({
  type: 'response.function_call_arguments.delta',
  output_index: 0,
  delta: text,
})
const completed = {
  type: 'response.completed',
  response: { id: 'r', status: 'completed', output: [] },
}
const incomplete = (reason: string) => ({
  type: 'response.incomplete',
  response: { id: 'r', status: 'incomplete', incomplete_details: { reason }, output: [] },
})
const failed = {
  type: 'response.failed',
  response: {
    id: 'r',
    status: 'failed',
    error: { code: 'server_error', message: 'no' },
    output: [],
  },
}
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'fine', annotations: [] }],
}
const ANSWER: LoopbackExchange = { events: [done(message), completed] }
const WHOLE = [added(call({ arguments: '' })), delta('{"sum":1}'), done(call()), completed]

async function play(exchanges: readonly LoopbackExchange[], options: { maxTimeMs?: number } = {}) {
  const api = 'openai-responses'
  const { validate } = wire(api)
  const server = await loopbackProvider({ api, exchanges, validate })
  running.push(server)
  const client = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 })
  const paid: unknown[] = []
  const pay = new Tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: z.object({ sum: z.number() }),
    effect: 'write',
    handler: (args) => {
      paid.push(args)
      return 'paid'
    },
  }) as Tool
  const runner = new TurnRunner({
    model: openaiResponses({ client, model: 'gpt-5.4' }),
    tools: [pay],
    policy: 'open',
    sleep: async () => {},
    retries: 1,
    ...options,
  })
  const recorder = eventRecorder(runner)
  const outcome = await runner.run({ message: 'go' })
  const violations = server.requests.flatMap((request) => request.violations)
  return { outcome, paid, recorder, server, violations }
}

describe('a call that is not provably finished', () => {
  const broken = (name: string, fault: LoopbackFault, events: unknown[] = WHOLE) =>
    ({ name, exchange: { events, fault } }) as const
  const whole = (name: string, ...events: unknown[]) => ({ name, exchange: { events } }) as const

  // The stream breaks: nothing of it counts, the loss is told, and the model is asked again.
  it.each([
    broken('the body ends inside the arguments', { type: 'cut', at: 2 }),
    broken('the body ends behind arguments that parse', { type: 'cut', at: 3 }),
    broken('the body ends inside the last event', { type: 'cut', at: 3, byte: 30 }),
    broken('the connection is reset behind the call', { type: 'reset', at: 3 }),
    broken('the call itself arrives corrupted', { type: 'corrupt', at: 2 }),
    broken('the call holds a byte that is no UTF-8', { type: 'invalid-utf8', at: 2 }),
    broken('the provider reports an error behind the call', { type: 'error', at: 3, status: 529 }),
    whole('the response failed', ...WHOLE.slice(0, 3), failed),
  ])('never runs, and is not lost in silence: $name', async ({ exchange }) => {
    const { outcome, paid, recorder, violations } = await play([exchange, ANSWER])
    expect(paid).toEqual([])
    expect(violations).toEqual([])
    const warned = recorder.of('warning').filter(({ code }) => code === 'MODEL_RETRY')
    const isTold = warned.length === 1 ? outcome.text === 'fine' : outcome.status === 'failed'
    expect({ isTold, reason: outcome.reason }).toMatchObject({ isTold: true })
    expect(outcome.toolCalls).toEqual([])
  })

  // The response ends and does not permit its calls: each is told, refused, and shown to the model.
  it.each([
    whole('the token limit cut the response', done(call()), incomplete('max_output_tokens')),
    whole('the arguments parse but the item never ended', ...WHOLE.slice(0, 2), completed),
    whole(
      'the item says of itself that it is incomplete',
      done(call({ status: 'incomplete' })),
      completed,
    ),
    whole('a filter cut the response', done(call()), incomplete('content_filter')),
    whole('the response ended in a word nobody knows', done(call()), incomplete('novelty')),
    whole('the arguments are cut', done(call({ arguments: '{"sum":1' })), completed),
    whole(
      'the arguments hold a key twice',
      done(call({ arguments: '{"sum":1,"sum":2}' })),
      completed,
    ),
    whole(
      'a number is beyond 2^53',
      done(call({ arguments: '{"sum":9007199254740993}' })),
      completed,
    ),
  ])('never runs, and is settled as refused: $name', async ({ exchange }) => {
    const { outcome, paid, recorder, violations } = await play([exchange, ANSWER])
    expect(paid).toEqual([])
    expect(violations).toEqual([])
    expect(outcome.toolCalls).toMatchObject([{ tool: 'pay', settlement: 'refused' }])
    expect(recorder.of('toolCall').map(({ isComplete }) => isComplete)).toEqual([false, true])
    expect(['completed', 'stopped']).toContain(outcome.status)
    if (outcome.status === 'stopped') expect(outcome.reason?.code).toBe('MODEL_STOPPED')
  })

  it('never runs when the stream stalls for good; the time limit ends the turn', async () => {
    const exchange: LoopbackExchange = { events: WHOLE, fault: { type: 'stall', at: 3 } }
    const { outcome, paid } = await play([exchange], { maxTimeMs: 300 })
    expect(outcome).toMatchObject({
      status: 'stopped',
      reason: { code: 'MAX_TIME' },
      toolCalls: [],
    })
    expect(paid).toEqual([])
  })
})

describe('the identity of calls', () => {
  const ids = ({ outcome }: Awaited<ReturnType<typeof play>>) =>
    outcome.toolCalls.map(({ id, settlement }) => `${id} ${settlement}`)
  const pay = (sum: number, more: object = {}) => call({ arguments: `{"sum":${sum}}`, ...more })

  it('counts a doubled event once', async () => {
    const fault = { type: 'duplicate', at: 2 } as const
    const played = await play([{ events: WHOLE, fault }, ANSWER])
    expect(played.paid).toEqual([{ sum: 1 }])
    expect(ids(played)).toEqual(['call_1 ok'])
  })

  it('counts a call once that the last event repeats', async () => {
    const last = { ...completed, response: { ...completed.response, output: [call()] } }
    const played = await play([{ events: [done(call()), last] }, ANSWER])
    expect(played.paid).toHaveLength(1)
  })

  it('tells two calls under one id apart', async () => {
    const events = [done(pay(1)), done(pay(2, { id: 'fc_2' }), 1), completed]
    const played = await play([{ events }, ANSWER])
    expect(played.paid).toEqual([{ sum: 1 }, { sum: 2 }])
    expect(ids(played)).toEqual(['call_1 ok', 'call_1~2 ok'])
    expect(played.violations).toEqual([])
    expect(played.outcome.status).toBe('completed')
  })

  it('keeps ids unique when every response has the same', async () => {
    const again = (sum: number) => ({ events: [done(pay(sum)), completed] })
    const played = await play([again(1), again(2), again(3), ANSWER])
    expect(ids(played)).toEqual(['call_1 ok', 'call_1~2 ok', 'call_1~3 ok'])
    expect(played.paid).toEqual([{ sum: 1 }, { sum: 2 }, { sum: 3 }])
    expect(played.violations).toEqual([])
    expect(played.outcome.status).toBe('completed')
  })

  it.each([[null], ['']])('gives a call whose id is %o an id that nobody can guess', async (id) => {
    const played = await play([{ events: [done(pay(1, { call_id: id, id })), completed] }, ANSWER])
    expect(ids(played)).toEqual([expect.stringMatching(/^bob_\S{22} ok$/)])
    expect(played.outcome.status).toBe('completed')
    expect(played.violations).toEqual([])
  })

  it('refuses a call without a name and goes on', async () => {
    const played = await play([{ events: [done(pay(1, { name: '' })), completed] }, ANSWER])
    expect(played.paid).toEqual([])
    expect(played.outcome.status).toBe('completed')
    expect(ids(played)).toEqual(['call_1 refused'])
  })

  it('takes a call named like a property of every object for an unknown tool', async () => {
    const named = [
      done(pay(1, { name: '__proto__' })),
      done(pay(1, { name: 'toString', id: 'fc_2', call_id: 'call_2' }), 1),
    ]
    const played = await play([{ events: [...named, completed] }, ANSWER])
    expect(ids(played)).toEqual(['call_1 refused', 'call_2 refused'])
    expect(played.outcome.status).toBe('completed')
  })

  it('takes megabytes of broken arguments, keeps them on the spool, and goes on', async () => {
    const events = [done(pay(1, { arguments: `{"sum":"${'x'.repeat(5_000_000)}` })), completed]
    const played = await play([{ events }, ANSWER])
    expect(ids(played)).toEqual(['call_1 refused'])
    expect(played.outcome.status).toBe('completed')
    const { rawArgs } = played.outcome.toolCalls[0] ?? {}
    expect(typeof rawArgs).toBe('object')
    expect(JSON.stringify(played.server.requests[1]?.body).length).toBeLessThan(20_000)
  })
})
