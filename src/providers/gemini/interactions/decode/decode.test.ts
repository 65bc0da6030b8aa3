import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../core/json/json.ts'
import { wire } from '../../../../wire/index.ts'

const codec = wire('gemini-interactions', { secret: new Uint8Array(32) })
const said = (text: string) => ({ type: 'model_output', content: [{ type: 'text', text }] })
const interaction = (status: string, steps: JsonObject[], more: JsonObject = {}) => ({
  id: 'v1',
  object: 'interaction',
  status,
  steps,
  ...more,
})

describe('decode of Interactions', () => {
  it.each([
    ['a text', 'Hi'],
    ['content', { type: 'text', text: 'Hi' }],
    ['a list of content', [{ type: 'text', text: 'Hi' }]],
    ['a step', { type: 'user_input', content: [{ type: 'text', text: 'Hi' }] }],
    ['a step with a text', [{ type: 'user_input', content: 'Hi' }]],
    ['a turn of the first versions', [{ role: 'user', content: 'Hi' }]],
  ])('reads %s as what a person said', (_, input) => {
    const expected = [{ type: 'message', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
    expect(codec.decode(input).items).toMatchObject(expected)
    expect(codec.decode({ model: 'm', input }).items).toMatchObject(expected)
  })

  it.each([
    ['completed', 'stop'],
    ['requires_action', 'other'],
    ['incomplete', 'length'],
    ['budget_exceeded', 'length'],
    ['cancelled', 'other'],
    ['requires_continuation', 'length'],
  ])('tells the status %s as %s', (status, reason) => {
    expect(codec.decode(interaction(status, [said('So.')])).finish).toMatchObject({
      reason,
      rawReason: status,
      responseId: 'v1',
    })
  })

  it.each(['in_progress', 'queued'])('takes the status %s for no end', (status) => {
    const decoded = codec.decode(interaction(status, [said('So.')]))
    expect(decoded.finish).toBeUndefined()
    expect(decoded.messages).toHaveLength(1)
  })

  it.each([
    ['the interaction', { errors: [{ code: 'content_blocked', message: 'no' }] }],
    ['a step', { steps: [{ type: 'model_output', error: { code: 400, message: 'no' } }] }],
  ])('throws the error of a failed response, from %s', (_, more) => {
    expect(() => codec.decode(interaction('failed', [], more as JsonObject))).toThrow(
      expect.objectContaining({ code: 'E_PROVIDER_BAD_REQUEST' }),
    )
  })

  it('reads several responses that continue each other as one', () => {
    const first = interaction('requires_continuation', [said('Rise and ')], {
      continuation_token: 'dA==',
    })
    const second = interaction('completed', [said('fall.'), said('Twice.')], { id: 'v2' })
    const { finish, messages } = codec.decode([first, second])
    expect(finish).toMatchObject({ reason: 'stop', responseId: 'v2' })
    expect(messages).toMatchObject([
      { parts: [{ text: 'Rise and fall.' }] },
      { parts: [{ text: 'Twice.' }] },
    ])
    expect(codec.decode(first).finish).toMatchObject({ reason: 'pause' })
  })

  it('reads the steps of a stored interaction, input included', () => {
    const stored = interaction('completed', [
      { type: 'user_input', content: [{ type: 'text', text: 'Hi' }] },
      said('Hello.'),
    ])
    expect(codec.decode(stored).items).toMatchObject([
      { type: 'message', role: 'user' },
      { type: 'message', role: 'assistant' },
    ])
  })

  it('reads results of functions that stand among what a person said', () => {
    const { items } = codec.decode([
      { type: 'function_call', id: 'c1', name: 'pay', arguments: {} },
      {
        type: 'user_input',
        content: [
          { type: 'function_result', call_id: 'c1', name: 'pay', result: 'paid' },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
    expect(items).toMatchObject([
      { type: 'call', result: { parts: [{ text: 'paid' }] } },
      { type: 'message', parts: [{ text: 'And?' }] },
    ])
  })

  it('gives media in the base64 that every provider takes', () => {
    const picture = { type: 'image', data: '_-8', mime_type: 'image/png' }
    const { messages } = codec.decode([{ type: 'user_input', content: [picture] }])
    expect(messages).toMatchObject([{ parts: [{ source: { type: 'base64', data: '/+8=' } }] }])
    const sent = wire('anthropic-messages').encode(messages)
    expect(JSON.stringify(sent)).toContain('"/+8="')
  })

  it.each([[null], [1], [{}], [{ status: 'completed' }]])('refuses %j', (payload) => {
    expect(() => codec.decode(payload)).toThrow(
      expect.objectContaining({ code: 'E_UNKNOWN_PAYLOAD' }),
    )
  })
})
