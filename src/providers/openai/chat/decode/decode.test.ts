import { describe, expect, it } from 'vitest'
import { syntheticIds } from '../../../../model/wire/synthetic-id.ts'
import { decodePayload } from './decode.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(3) })
const decode = (payload: unknown) => decodePayload(payload, { mint })
const call = { id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } }

describe('decodePayload', () => {
  it.each([
    ['a request', { messages: [{ role: 'assistant', tool_calls: [call] }] }],
    ['a list of messages', [{ role: 'assistant', tool_calls: [call] }]],
    ['a message', { role: 'assistant', tool_calls: [call] }],
    ['a call', call],
    ['a list of calls', [call]],
  ])('reads %s', (_, payload) => {
    expect(decode(payload).items).toMatchObject([{ type: 'call', id: 'c', tool: 'read' }])
  })

  it('tells how a whole response ended', () => {
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    const response = (finish_reason: unknown) => ({
      id: 'r',
      choices: [{ message, finish_reason }],
    })
    expect(decode(response('tool_calls')).finish).toMatchObject({
      reason: 'tools',
      responseId: 'r',
      items: [{ id: 'c', response: 'r' }],
    })
    expect(decode(response('length'))).toMatchObject({ items: [], finish: { reason: 'length' } })
    expect(decode(response(null))).toMatchObject({ items: [], finish: { reason: 'other' } })
  })

  it.each([undefined, null, ''])(
    'takes a whole answer whose reason is %j as finished',
    (reason) => {
      const choice = (message: object) => ({ choices: [{ message, finish_reason: reason }] })
      const said = { role: 'assistant', content: 'Fine.' }
      expect(decode(choice(said)).finish).toMatchObject({ reason: 'stop' })
      expect(decode(choice({ ...said, tool_calls: [call] })).finish).toMatchObject({
        reason: 'tools',
        items: [{ type: 'message' }, { type: 'call', id: 'c' }],
      })
      expect(decode(choice({ role: 'assistant', content: '' })).finish).toMatchObject({
        reason: 'other',
      })
    },
  )

  it.each(['eos', 'eos_token', 'end', 'end_turn', 'stop_sequence', 'COMPLETE', 'STOP'])(
    'takes `%s` for `stop`',
    (finish_reason) => {
      const message = { role: 'assistant', content: 'Fine.' }
      expect(decode({ choices: [{ message, finish_reason }] }).finish).toMatchObject({
        reason: 'stop',
        rawReason: finish_reason,
      })
    },
  )

  it('takes no call from a single chunk', () => {
    const delta = { content: 'Hi.', tool_calls: [{ index: 0, ...call }] }
    expect(decode({ choices: [{ delta, finish_reason: null }] }).items).toMatchObject([
      { type: 'message' },
    ])
  })

  it('throws the error in a body', () => {
    const body = { error: { message: 'Too long.', code: 'context_length_exceeded' } }
    expect(() => decode(body)).toThrow('Too long.')
    expect(() => decode({ ...body, choices: [] })).toThrow('Too long.')
  })

  it.each([undefined, null, 3, 'x', {}, { output: [] }])('refuses %j', (payload) => {
    expect(() => decode(payload)).toThrow('nothing that `openai-chat` has')
  })

  it('refuses a response without a choice', () => {
    expect(() => decode({ id: 'r', choices: [] })).toThrow('it has no choice')
  })

  it('settles results on the calls of the latest response where ids come again', () => {
    const asking = { role: 'assistant', tool_calls: [call] }
    const answer = (content: string) => ({ role: 'tool', tool_call_id: 'c', content })
    expect(decode([asking, answer('one'), asking, answer('two')]).items).toMatchObject([
      { id: 'c', result: { parts: [{ text: 'one' }] } },
      { id: 'c~2', result: { parts: [{ text: 'two' }] } },
    ])
  })

  it('keeps a result whose call is not there', () => {
    expect(
      decode([{ role: 'tool', tool_call_id: 'x', name: 'read', content: 'late' }]),
    ).toMatchObject({ items: [{ type: 'call', id: 'x', tool: 'read', resultOnly: true }] })
  })
})
