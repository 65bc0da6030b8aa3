import { describe, expect, it } from 'vitest'
import { wire } from '../../../../wire/index.ts'
import { INTERACTIONS_RULES } from './validate.ts'

const { validate } = wire('gemini-interactions')
const user = { type: 'user_input', content: [{ type: 'text', text: 'Go' }] }
const thought = { type: 'thought', signature: 'c2ln' }
const call = { type: 'function_call', id: 'a', name: 'pay', arguments: {} }
const result = { type: 'function_result', call_id: 'a', result: 'paid' }
const searched = { type: 'google_search_result', call_id: 's', result: [] }

/** For each rule, a request that breaks it and no other. */
const BROKEN: Readonly<Record<string, object>> = {
  'missing-result': { input: [user, call, user] },
  'stray-result': { input: [user, result] },
  'duplicate-id': { input: [user, call, result, call, result] },
  'stray-server-result': { input: [user, searched, user] },
  'unsigned-call': { model: 'gemini-3.8-flash', input: [user, call, result] },
  'model-step-last': { input: [user, { type: 'model_output', content: [] }] },
  'legacy-turn': { input: [{ role: 'user', content: 'Go' }] },
  'missing-id': { input: [user, { ...call, id: '' }, { ...result, call_id: '' }] },
  'function-name': { input: [user, { ...call, name: '2pay' }, result] },
  struct: { input: [user, { ...call, arguments: '{}' }, result] },
  'result-shape': { input: [user, call, { ...result, result: 4 }] },
  'unsigned-thought': { input: [user, { type: 'thought', signature: '' }, call, result] },
  'empty-text': { input: [{ type: 'user_input', content: [{ type: 'text', text: '' }] }] },
  'background-not-stored': { background: true, store: false, input: [user] },
}

describe('validate of Interactions', () => {
  it.each(INTERACTIONS_RULES.map(({ rule }) => rule))('finds %s', (rule) => {
    const found = validate(BROKEN[rule])
    expect(new Set(found.map((violation) => violation.rule))).toEqual(new Set([rule]))
  })

  it.each([
    ['a text', 'Go'],
    ['signed calls', [user, thought, call, result]],
    ['a signature on the call itself', [user, { ...call, signature: 'c2ln' }, result]],
    [
      'content',
      [
        { type: 'text', text: 'Go' },
        { type: 'image', uri: 'https://a.example' },
      ],
    ],
  ])('has nothing against %s', (_, input) => {
    expect(validate({ model: 'gemini-3.8-flash', store: false, input })).toEqual([])
  })

  it('has nothing against a result that answers a stored interaction', () => {
    expect(validate({ previous_interaction_id: 'v1', input: [result] })).toEqual([])
  })
})
