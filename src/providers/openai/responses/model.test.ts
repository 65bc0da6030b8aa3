import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../../model/model.ts'
import type { Finish, ModelEvent } from '../../../model/model-event.ts'
import type { HistoryItem } from '../../../records/history-item.ts'
import { openaiResponses } from './model.ts'
import { validateRequest } from './validate.ts'

type Answer = (body: Record<string, unknown>) => Response | Promise<Response>

/** The official client over answers of ours: everything but the network is real. */
function connect(...answers: readonly Answer[]) {
  const bodies: Record<string, unknown>[] = []
  const client = new OpenAI({
    apiKey: 'test',
    baseURL: 'http://127.0.0.1:9/v1',
    maxRetries: 0,
    fetch: async (_url, init) => {
      const body = JSON.parse(init?.body as string) as Record<string, unknown>
      init?.signal?.throwIfAborted()
      bodies.push(body)
      const answer = answers[bodies.length - 1]
      if (answer === undefined) throw new TypeError('fetch failed')
      return answer(body)
    },
  })
  return { client, bodies }
}

const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Oslo"}',
  status: 'completed',
}
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' }
const text = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Four degrees.', annotations: [] }],
}
const whole = (...output: object[]) => ({ id: 'resp_1', status: 'completed', output })
const json =
  (body: unknown, status = 200) =>
  () =>
    Response.json(body, { status })
const sse =
  (...events: object[]) =>
  () =>
    new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    })
const streamed = (...output: object[]) =>
  sse(
    ...output.map((item, output_index) => ({
      type: 'response.output_item.done',
      output_index,
      item,
    })),
    { type: 'response.completed', response: whole() },
  )

async function run(events: AsyncIterable<ModelEvent>): Promise<Finish> {
  let finish: Finish | undefined
  for await (const event of events) if (event.type === 'finish') finish = event
  if (finish === undefined) throw new Error('there was no finish')
  return finish
}

const question: HistoryItem = {
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text: 'Weather in Oslo?' }],
}
const request: ModelRequest = {
  instructions: 'Be brief.',
  items: [question],
  tools: [{ name: 'get_weather', description: 'Weather.', inputSchema: { type: 'object' } }],
}

describe('openaiResponses', () => {
  it.each([
    ['streaming', true, [streamed(reasoning, call), streamed(text)]],
    ['whole', false, [json(whole(reasoning, call)), json(whole(text))]],
  ])('holds a two-step conversation with tools, %s', async (_, streaming, answers) => {
    const { client, bodies } = connect(...answers)
    const model = openaiResponses({ client, model: 'gpt-5.4', streaming })
    const first = await run(model.stream(request))
    expect(first).toMatchObject({ reason: 'tools', items: [{ type: 'thought' }, { id: 'call_1' }] })
    const settled = first.items.map((item) =>
      item.type === 'call'
        ? { ...item, result: { isError: false, parts: [{ type: 'text' as const, text: '4 C' }] } }
        : item,
    )
    const second = await run(model.stream({ ...request, items: [question, ...settled] }))
    expect(second).toMatchObject({
      reason: 'stop',
      items: [{ parts: [{ text: 'Four degrees.' }] }],
    })
    const { id: _id, status: _status, ...sent } = call
    expect(bodies[1]).toMatchObject({
      model: 'gpt-5.4',
      stream: streaming,
      store: false,
      instructions: 'Be brief.',
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', name: 'get_weather', strict: false }],
      input: [
        { role: 'user', content: 'Weather in Oslo?' },
        reasoning,
        sent,
        { type: 'function_call_output', call_id: 'call_1', output: '4 C' },
      ],
    })
    expect(validateRequest(bodies[1])).toEqual([])
  })

  it('takes a whole answer from a server that does not stream', async () => {
    const { client } = connect(json(whole(text)))
    const model = openaiResponses({ client, model: 'm', streaming: true })
    expect(await run(model.stream(request))).toMatchObject({ reason: 'stop' })
  })

  it('sends hosted tools and parameters, which win', async () => {
    const { client, bodies } = connect(json(whole(text)))
    const model = openaiResponses({
      client,
      model: 'gpt-4.1',
      streaming: false,
      hostedTools: [{ type: 'web_search' }],
      params: { store: true, temperature: 0 },
    })
    await run(model.stream({ items: [question], toolChoice: { tool: 'x' } }))
    expect(bodies[0]).toMatchObject({
      store: true,
      temperature: 0,
      tools: [{ type: 'web_search' }],
      tool_choice: { type: 'function', name: 'x' },
    })
    expect(bodies[0]).not.toHaveProperty('include')
  })

  it.each([
    [400, { error: { code: null, message: 'No tool output found' } }, 'E_PROVIDER_BAD_REQUEST'],
    [400, { error: { code: 'context_length_exceeded' } }, 'E_PROVIDER_CONTEXT_TOO_LONG'],
    [401, { error: { code: 'invalid_api_key' } }, 'E_PROVIDER_AUTH'],
    [404, { error: { code: 'model_not_found' } }, 'E_PROVIDER_NOT_FOUND'],
    [429, { error: { code: 'rate_limit_exceeded' } }, 'E_PROVIDER_RATE_LIMITED'],
    [500, { error: { type: 'server_error' } }, 'E_PROVIDER_UNAVAILABLE'],
    [503, 'no JSON at all', 'E_PROVIDER_UNAVAILABLE'],
  ])('maps status %i with %j', async (status, body, code) => {
    const { client } = connect(json(body, status))
    const model = openaiResponses({ client, model: 'm' })
    await expect(run(model.stream(request))).rejects.toMatchObject({ code, data: { status } })
  })

  it('says when it may be tried again', async () => {
    const headers = { 'retry-after': '7' }
    const { client } = connect(() => Response.json({ error: {} }, { status: 429, headers }))
    const model = openaiResponses({ client, model: 'm' })
    await expect(run(model.stream(request))).rejects.toMatchObject({
      data: { isRetryable: true, retryAfterMs: 7000 },
    })
  })

  it('maps an error event after status 200, even after a finished call', async () => {
    const done = { type: 'response.output_item.done', output_index: 0, item: call }
    const error = { type: 'error', code: 'server_error', message: 'sorry' }
    const { client } = connect(sse(done, error))
    const model = openaiResponses({ client, model: 'm' })
    await expect(run(model.stream(request))).rejects.toMatchObject({
      code: 'E_PROVIDER_UNAVAILABLE',
    })
  })

  it.each([
    ['a failed response', sse({ type: 'response.failed', response: { error: { code: 'x' } } })],
    ['a stream without end', sse({ type: 'response.created', response: { id: 'r' } })],
    ['no body', () => new Response(null)],
    ['a body that is no JSON', sse, 'data: {oops\n\n'],
    ['no connection', undefined],
  ])('gives an error for %s', async (_, answer, body?: string) => {
    const answers = body === undefined ? answer : () => new Response(body)
    const { client } = connect(...(answers === undefined ? [] : [answers as Answer]))
    const model = openaiResponses({ client, model: 'm' })
    await expect(run(model.stream(request))).rejects.toMatchObject({ name: 'BobbinError' })
  })

  it('passes an abort on as it is', async () => {
    const { client } = connect(json(whole(text)))
    const reason = new Error('stop it')
    const model = openaiResponses({ client, model: 'm' })
    const signal = AbortSignal.abort(reason)
    await expect(run(model.stream(request, { signal }))).rejects.not.toMatchObject({
      name: 'BobbinError',
    })
  })
})
