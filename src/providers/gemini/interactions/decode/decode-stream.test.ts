import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../core/json/json.ts'
import type { Finish, ModelEvent } from '../../../../model/events/model-event.ts'
import { wire } from '../../../../wire/index.ts'
import { decodeStream } from './decode-stream.ts'

const mint = () => 'minted'
const codec = wire('gemini-interactions', { secret: new Uint8Array(32) })

const created = (id = 'v1') => ({
  event_type: 'interaction.created',
  interaction: { id, status: 'in_progress' },
})
const start = (index: number, step: JsonObject) => ({ event_type: 'step.start', index, step })
const delta = (index: number, given: JsonObject) => ({
  event_type: 'step.delta',
  index,
  delta: given,
})
const stop = (index: number) => ({ event_type: 'step.stop', index })
const completed = (status: string, more: JsonObject = {}) => ({
  event_type: 'interaction.completed',
  interaction: { id: 'v1', status, ...more },
})
const called = (index: number, args: string, id = `c${index}`) => [
  start(index, { type: 'function_call', id, name: 'pay', arguments: {}, signature: '' }),
  delta(index, { type: 'arguments_delta', arguments: args }),
  stop(index),
]
const says = (index: number, text: string) => [
  start(index, { type: 'model_output' }),
  delta(index, { type: 'text', text }),
  stop(index),
]

/** From the text of events, as they come over the wire. */
function read(...events: readonly object[]): { events: ModelEvent[]; finish: Finish } {
  const decoder = decodeStream({ mint })
  const made = events.flatMap((event) => decoder.push(event, JSON.stringify(event)))
  const all = [...made, ...decoder.end()]
  const finish = all.find((event) => event.type === 'finish')
  if (finish === undefined) throw new Error('the finish is missing')
  return { events: all, finish }
}

describe('decodeStream of Interactions', () => {
  it('gives deltas of thoughts, text and arguments, each under the key of its step', () => {
    const { events } = read(
      created(),
      start(0, { type: 'thought' }),
      delta(0, { type: 'thought_summary', content: { type: 'text', text: 'Hm.' } }),
      stop(0),
      ...says(1, 'So.'),
      ...called(2, '{"sum":1}'),
      completed('requires_action'),
    )
    expect(events.slice(0, 3)).toEqual([
      { type: 'thought', key: '0', delta: 'Hm.' },
      { type: 'text', key: '1', delta: 'So.' },
      { type: 'toolInput', key: '2', tool: 'pay', delta: '{"sum":1}' },
    ])
  })

  it.each([
    ['completed', 'tools'],
    ['requires_action', 'tools'],
  ])('permits calls when the status is %s', (status, reason) => {
    const { finish } = read(created(), ...called(0, '{"sum":1}'), completed(status))
    expect(finish).toMatchObject({ reason, rawReason: status, items: [{ args: { sum: 1 } }] })
  })

  it.each([
    ['incomplete', 'length'],
    ['budget_exceeded', 'length'],
    ['cancelled', 'other'],
    ['requires_continuation', 'length'],
    ['novelty', 'other'],
  ])('permits no call when the status is %s', (status, reason) => {
    const { finish } = read(created(), ...called(0, '{"sum":1}'), completed(status))
    expect(finish).toMatchObject({
      reason,
      items: [],
      unfinished: [{ tool: 'pay', callId: 'c0', rawArgs: '{"sum":1}' }],
    })
  })

  it.each(['cancelled', 'incomplete', 'budget_exceeded'])(
    'takes the status %s without a last event as the end',
    (status) => {
      const update = { event_type: 'interaction.status_update', status }
      expect(read(created(), ...says(0, 'So'), update).finish).toMatchObject({
        rawReason: status,
        items: [{ type: 'message' }],
      })
    },
  )

  it.each(['completed', 'requires_action', 'in_progress'])(
    'takes a stream that ends after the status %s for cut',
    (status) => {
      const update = { event_type: 'interaction.status_update', status }
      const cut = () => read(created(), ...called(0, '{}'), update)
      expect(cut).toThrow(expect.objectContaining({ code: 'E_STREAM_BROKEN' }))
    },
  )

  it('gives no call whose end never came', () => {
    const [begin, piece] = called(0, '{"sum":1}')
    const { finish } = read(created(), begin as object, piece as object, completed('completed'))
    expect(finish).toMatchObject({ items: [], unfinished: [{ callId: 'c0' }] })
  })

  it('judges arguments by their own text', () => {
    const { finish } = read(created(), ...called(0, '{"sum":1,"sum":2}'), completed('completed'))
    expect(finish.items).toMatchObject([{ fault: { rule: 'duplicate-key' } }])
    const whole = '{"type":"function_call","id":"c","name":"pay","arguments":{"sum":1,"sum":2}}'
    const source = `{"event_type":"step.start","index":0,"step":${whole}}`
    const decoder = decodeStream({ mint })
    decoder.push(created())
    decoder.push(JSON.parse(source), source)
    decoder.push(stop(0))
    expect(decoder.push(completed('completed'))).toMatchObject([
      { items: [{ fault: { rule: 'duplicate-key' } }] },
    ])
  })

  it('reads events in camelCase', () => {
    const { finish } = read(
      { eventType: 'interaction.created', interaction: { id: 'v1', status: 'in_progress' } },
      { eventType: 'step.start', index: 0, step: { type: 'model_output' } },
      { eventType: 'step.delta', index: 0, delta: { type: 'text', text: 'So.' } },
      { eventType: 'step.stop', index: 0 },
      {
        eventType: 'interaction.completed',
        interaction: { id: 'v1', status: 'completed', usage: { totalInputTokens: 3 } },
      },
    )
    expect(finish).toMatchObject({ reason: 'stop', usage: { inputTokens: 3, outputTokens: 0 } })
  })

  it('joins what several requests gave, and adds up what they cost', () => {
    const usage = (input: number, output: number) => ({
      usage: { total_input_tokens: input, total_output_tokens: output, total_cached_tokens: 1 },
    })
    const { events, finish } = read(
      created('v1'),
      ...says(0, 'Rise and '),
      completed('requires_continuation', { continuation_token: 'dA==', ...usage(3, 4) }),
      created('v2'),
      ...says(0, 'fall.'),
      completed('completed', { id: 'v2', ...usage(5, 6) }),
    )
    expect(finish).toMatchObject({
      reason: 'stop',
      responseId: 'v2',
      usage: { inputTokens: 8, outputTokens: 10, cachedInputTokens: 2 },
      items: [{ type: 'message', parts: [{ text: 'Rise and fall.' }] }],
    })
    expect(events.filter(({ type }) => type === 'text')).toMatchObject([{ key: '0' }, { key: '0' }])
  })

  it('offers the token of a response that stopped at the limit of one request', () => {
    const decoder = decodeStream({ mint })
    const push = (event: object) => decoder.push(event)
    for (const event of [created(), ...says(0, 'Rise')]) push(event)
    expect(decoder.continuation).toBeUndefined()
    expect(push(completed('requires_continuation', { continuation_token: 'dA==' }))).toEqual([])
    expect(decoder.continuation).toBe('dA==')
    expect(decoder.end()).toMatchObject([{ reason: 'pause', rawReason: 'requires_continuation' }])
    expect(decoder.continuation).toBeUndefined()
  })

  it.each([
    ['an error event', { event_type: 'error', error: { code: 'not_found', message: 'gone' } }],
    [
      'a failed interaction',
      completed('failed', { errors: [{ code: 'not_found', message: 'gone' }] }),
    ],
    ['a bare error', { error: { code: 'not_found', message: 'gone' } }],
  ])('throws the error of %s', (_, event) => {
    expect(() => codec.decodeStream([created(), event])).toThrow(
      expect.objectContaining({
        code: 'E_PROVIDER_NOT_FOUND',
        message: '`gemini-interactions` answered: gone',
      }),
    )
  })

  it.each([
    ['no object', 'x'],
    ['no type', { index: 0 }],
    ['no index', { event_type: 'step.delta', delta: { type: 'text', text: 'a' } }],
    ['no step', { event_type: 'step.start', index: 0 }],
  ])('refuses an event with %s', (_, event) => {
    expect(() => codec.decodeStream([created(), event])).toThrow(
      expect.objectContaining({ code: 'E_STREAM_BROKEN' }),
    )
  })

  it('keeps the words of a response that was cut, and none of its calls', () => {
    const { items } = codec.decodeStream([created(), ...says(0, 'So'), ...called(1, '{}')])
    expect(items).toMatchObject([{ type: 'message', parts: [{ text: 'So' }] }])
    expect(items).toHaveLength(1)
  })

  it('marks a response that rests on pages, wherever the steps of the search stand', () => {
    const cited = { type: 'url_citation', url: 'https://a.example' }
    const search = [
      start(2, { type: 'google_search_call', id: 's1', arguments: { queries: ['x'] } }),
      stop(2),
    ]
    const annotated = delta(0, { type: 'text_annotation_delta', annotations: [cited] })
    const grounded = (...more: readonly object[]) =>
      read(created(), ...says(0, 'So.'), ...more, ...called(1, '{}'), completed('completed')).finish
        .grounded
    expect(grounded(annotated)).toBe(true)
    expect(grounded(...search)).toBe(true)
    expect(grounded(start(3, { type: 'novel_result' }), stop(3))).toBe(true)
    expect(grounded()).toBeUndefined()
  })
})
