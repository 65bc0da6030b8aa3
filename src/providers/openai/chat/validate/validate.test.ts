import { describe, expect, it } from 'vitest'
import { CHAT_RULES, validateRequest } from './validate.ts'

const call = (id: unknown, extra: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'read', arguments: '{}' },
  ...extra,
})
const asks = (...calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const answers = (id: unknown, content: unknown = 'ok') => ({
  role: 'tool',
  tool_call_id: id,
  content,
})
const user = { role: 'user', content: 'Hi.' }

const BROKEN: Readonly<Record<string, unknown>> = {
  'unanswered-call': [asks(call('a'), call('b')), answers('a'), user, answers('b')],
  'stray-tool-message': [user, answers('a')],
  'missing-call-id': [asks(call('')), answers('')],
  'call-id-length': [asks(call('x'.repeat(65))), answers('x'.repeat(65))],
  'duplicate-call-id': [asks(call('a')), answers('a'), asks(call('a')), answers('a')],
  'call-shape': [asks(call('a', { function: { name: 'a b', arguments: {} } })), answers('a')],
  'arguments-not-json': [
    asks(call('a', { function: { name: 'read', arguments: '{' } })),
    answers('a'),
  ],
  'empty-calls': [{ role: 'assistant', content: 'x', tool_calls: [] }],
  'tool-content': [asks(call('a')), answers('a', [{ type: 'image_url', image_url: {} }])],
  'missing-content': [{ role: 'assistant', content: null }],
  base64: [
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,a-_b' } }],
    },
  ],
  'too-many-tools': { messages: [user], tools: Array.from({ length: 129 }, () => ({})) },
}

describe('validateRequest', () => {
  it('finds nothing wrong with what the provider takes', () => {
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      user,
      asks(call('a'), { id: 'b', type: 'custom', custom: { name: 'run', input: 'x' } }),
      answers('b'),
      answers('a', [{ type: 'text', text: 'ok' }]),
      { role: 'assistant', content: null, refusal: 'No.' },
    ]
    expect(validateRequest({ model: 'm', messages })).toEqual([])
    expect(validateRequest(messages)).toEqual([])
    expect(validateRequest(user)).toEqual([])
  })

  it.each(CHAT_RULES)('has a case for $rule and names the error it prevents', ({ rule }) => {
    const found = validateRequest(BROKEN[rule])
    expect(found.map((violation) => violation.rule)).toContain(rule)
    for (const { path, message, prevents } of found) {
      expect(path).toMatch(/^(messages\[\d+\]|tools)/)
      expect(message).not.toBe('')
      expect(prevents).not.toBe('')
    }
  })

  it('says where', () => {
    expect(validateRequest(BROKEN['unanswered-call'])).toMatchObject([
      { rule: 'unanswered-call', path: 'messages[0].tool_calls[1]' },
      { rule: 'stray-tool-message', path: 'messages[3]' },
    ])
  })

  it.each([undefined, null, 'x', {}, [null], [[]], { messages: 'x' }])('survives %j', (payload) => {
    expect(validateRequest(payload)).toBeInstanceOf(Array)
  })
})
