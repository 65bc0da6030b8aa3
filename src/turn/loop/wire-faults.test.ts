import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openaiResponses } from '../../providers/openai/index.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import type { LoopbackExchange } from '../../testing/loopback/loopback-exchange.ts'
import {
  type LoopbackProvider,
  loopbackProvider,
} from '../../testing/loopback/loopback-provider.ts'
import { Tool } from '../../tools/tool.ts'
import { wire } from '../../wire/index.ts'
import { TurnRunner } from '../turn-runner.ts'

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

async function play(exchanges: readonly LoopbackExchange[]) {
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
    testing: { sleep: async () => {} },
    retries: 1,
  })
  const recorder = eventRecorder(runner)
  const outcome = await runner.run({ message: 'go' })
  const violations = server.requests.flatMap((request) => request.violations)
  return { outcome, paid, recorder, server, violations }
}

// What all protocols have in common is tried on all of them in `test/wire/turn-faults.test.ts`; here is
// what only this one can say.
describe('a call that is not provably finished', () => {
  it('never runs when the response failed; the model is asked again', async () => {
    const exchange = { events: [...WHOLE.slice(0, 3), failed] }
    const { outcome, paid, recorder, violations } = await play([exchange, ANSWER])
    expect({ paid, violations, calls: outcome.toolCalls }).toEqual({
      paid: [],
      violations: [],
      calls: [],
    })
    const warned = recorder.of('warning').filter(({ code }) => code === 'MODEL_RETRY')
    const isTold = warned.length === 1 ? outcome.text === 'fine' : outcome.status === 'failed'
    expect(isTold).toBe(true)
  })

  it('never runs when it says of itself that it is incomplete, and is settled as refused', async () => {
    const exchange = { events: [done(call({ status: 'incomplete' })), completed] }
    const { outcome, paid, recorder, violations } = await play([exchange, ANSWER])
    expect({ paid, violations }).toEqual({ paid: [], violations: [] })
    expect(outcome.toolCalls).toMatchObject([{ tool: 'pay', settlement: 'refused' }])
    expect(recorder.of('toolCall').map(({ isComplete }) => isComplete)).toEqual([false, true])
  })
})

describe('the identity of calls', () => {
  const ids = ({ outcome }: Awaited<ReturnType<typeof play>>) =>
    outcome.toolCalls.map(({ id, settlement }) => `${id} ${settlement}`)

  it('counts a call once that the last event repeats', async () => {
    const last = { ...completed, response: { ...completed.response, output: [call()] } }
    const played = await play([{ events: [done(call()), last] }, ANSWER])
    expect(played.paid).toHaveLength(1)
    expect(ids(played)).toEqual(['call_1 ok'])
  })

  it('keeps megabytes of broken arguments on the spool', async () => {
    const broken = call({ arguments: `{"sum":"${'x'.repeat(5_000_000)}` })
    const played = await play([{ events: [done(broken), completed] }, ANSWER])
    expect(ids(played)).toEqual(['call_1 refused'])
    const { rawArgs } = played.outcome.toolCalls[0] ?? {}
    expect(typeof rawArgs).toBe('object')
    expect(JSON.stringify(played.server.requests[1]?.body).length).toBeLessThan(20_000)
  })
})
