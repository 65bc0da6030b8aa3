import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../core/json/json.ts'
import { syntheticIds } from '../../../../model/wire/synthetic-id.ts'
import { wire } from '../../../../wire/index.ts'
import { responses } from '../protocol.ts'

const codec = wire('openai-responses', { secret: new Uint8Array(32) })
const mint = syntheticIds({ secret: new Uint8Array(32) })

const call = (more: JsonObject = {}) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'pay',
  arguments: '{"sum":1}',
  status: 'completed',
  ...more,
})
const added = (item: JsonObject, output_index = 0) => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const done = (item: JsonObject, output_index = 0) => ({
  ...added(item, output_index),
  type: 'response.output_item.done',
})
const delta = (text: string, output_index = 0) => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta: text,
})
const completed = (more: JsonObject = {}) => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output: [], ...more },
})
const incomplete = (reason: string) => ({
  type: 'response.incomplete',
  response: { id: 'r', status: 'incomplete', incomplete_details: { reason }, output: [] },
})

const idsOf = (...events: JsonObject[]) => codec.decodeStream(events).calls.map(({ id }) => id)

describe('decodeStream of the Responses protocol', () => {
  it.each([[undefined], [null], ['']])('mints an id for a call whose call_id is %o', (call_id) => {
    const item = call({ call_id: call_id ?? null, id: call_id ?? null })
    const [found] = codec.decodeStream([done(item), completed()]).calls
    expect(found).toMatchObject({
      id: expect.stringMatching(/^bob_/),
      wire: { origin: 'synthetic' },
    })
  })

  it('keeps two calls under one id apart', () => {
    expect(idsOf(done(call()), done(call(), 1), completed())).toEqual(['call_1', 'call_1~2'])
  })

  it('believes the last sight of an id', () => {
    const early = added(call({ call_id: 'call_early', arguments: '' }))
    expect(idsOf(early, delta('{}'), done(call({ call_id: 'call_late' })), completed())).toEqual([
      'call_late',
    ])
  })

  it('takes a call that only the last event holds', () => {
    expect(idsOf(completed({ output: [call()] }))).toEqual(['call_1'])
  })

  it('counts an item once that done and the last event both hold', () => {
    expect(idsOf(done(call()), completed({ output: [call()] }))).toEqual(['call_1'])
  })

  it('ignores doubled and late events', () => {
    const events = [done(call()), done(call()), completed(), completed(), done(call(), 5)]
    expect(idsOf(...events)).toEqual(['call_1'])
  })

  it('does not take arguments that happen to parse for a call', () => {
    const events = [added(call({ arguments: '' })), delta('{"sum":1}')]
    expect(codec.decodeStream(events)).toMatchObject({ calls: [] })
    const { calls, finish } = codec.decodeStream([...events, completed()])
    expect(calls).toEqual([])
    expect(finish?.unfinished).toEqual([{ tool: 'pay', callId: 'call_1', rawArgs: '{"sum":1}' }])
  })

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'filter'],
    ['something_new', 'other'],
  ])('runs nothing after %s', (reason, expected) => {
    const { calls, finish } = codec.decodeStream([done(call()), incomplete(reason)])
    expect(calls).toEqual([])
    expect(finish).toMatchObject({
      reason: expected,
      rawReason: reason,
      unfinished: [{ tool: 'pay' }],
    })
  })

  it('runs no call that says of itself that it is incomplete', () => {
    const { calls, finish } = codec.decodeStream([
      done(call({ status: 'incomplete' })),
      completed(),
    ])
    expect(calls).toEqual([])
    expect(finish?.unfinished).toHaveLength(1)
  })

  it('gives cut arguments as a fault, never repaired', () => {
    const { calls } = codec.decodeStream([done(call({ arguments: '{"sum":1' })), completed()])
    expect(calls).toMatchObject([{ rawArgs: '{"sum":1', fault: { rule: 'not-json' } }])
  })

  it('takes a tool named `constructor`, and a type of that name, for what they are', () => {
    const events = [done(call({ name: 'constructor' })), done({ type: 'constructor', x: 1 }, 1)]
    const { items } = codec.decodeStream([...events, completed()])
    expect(items).toMatchObject([{ tool: 'constructor' }, { type: 'raw', value: { x: 1 } }])
    expect(codec.validate(codec.encode(items))).toEqual([])
  })

  it('tells text, thoughts and arguments while they come', () => {
    const decoder = responses.decodeStream({ mint })
    const events = [
      {
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        summary_index: 0,
        delta: 'h',
      },
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'a' },
      added(call({ arguments: '' }), 2),
      delta('{"', 2),
      { type: 'response.function_call_arguments.delta', output_index: 2, delta: '' },
    ]
    expect(events.flatMap((event) => decoder.push(event))).toEqual([
      { type: 'thought', key: '0', delta: 'h' },
      { type: 'text', key: '1', delta: 'a' },
      { type: 'toolInput', key: '2', tool: 'pay', delta: '{"' },
    ])
    expect(() => decoder.end()).toThrow(/ended before its last event/)
    expect(decoder.partial()).toMatchObject([
      { parts: [{ text: 'h' }] },
      { parts: [{ text: 'a' }] },
    ])
  })

  it.each([
    [{}, 'no type'],
    [null, 'no type'],
    [{ type: 'response.output_item.done', item: call() }, 'output_index'],
    [{ type: 'response.output_item.done', output_index: 0 }, 'item'],
    [{ type: 'response.output_text.delta', output_index: '0', delta: 'x' }, 'output_index'],
  ])('refuses the event %j', (event, message) => {
    expect(() => codec.decodeStream([event])).toThrow(message)
  })

  it('opens a gate for a consent request and waits', () => {
    const item = { type: 'oauth_consent_request', id: 'o', consent_link: 'https://example.com/' }
    const { calls, finish } = wire('foundry').decodeStream([done(item), incomplete('x')])
    expect(calls).toMatchObject([{ type: 'openCall', gate: { kind: 'consent' } }])
    expect(finish?.reason).toBe('waiting')
  })
})
