import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../core/json/json.ts'
import { GEMINI_RULES, validateRequest } from './validate.ts'

const user = { role: 'user', parts: [{ text: 'hi' }] }
const call = (more: JsonObject = {}, part: JsonObject = {}): JsonObject => ({
  functionCall: { name: 'f', args: {}, ...more },
  ...part,
})
const answer = (more: JsonObject = {}): JsonObject => ({
  functionResponse: { name: 'f', response: { output: 'ok' }, ...more },
})
const turn = (role: string, ...parts: JsonObject[]): JsonObject => ({ role, parts })
const asked = (...parts: JsonObject[]) => turn('model', ...parts)
const told = (...parts: JsonObject[]) => turn('user', ...parts)
const rulesOf = (payload: unknown) => validateRequest(payload).map(({ rule }) => rule)

/** For each rule a request that breaks it. */
const broken: readonly (readonly [rule: string, payload: unknown])[] = [
  ['response-count', [user, asked(call(), call()), told(answer())]],
  ['response-count', [user, asked(call()), user]],
  ['call-turn-place', [asked(call()), told(answer())]],
  ['call-turn-place', [asked({ text: 'a' }), asked(call()), told(answer())]],
  ['response-turn-place', [user, told(answer())]],
  ['response-turn-place', [user, asked(call()), user, told(answer())]],
  ['response-turn-alone', [user, asked(call()), told(answer(), { text: 'and' })]],
  [
    'response-order',
    [user, asked(call(), call({ name: 'g' })), told(answer({ name: 'g' }), answer())],
  ],
  ['response-id', [user, asked(call({ id: 'a' })), told(answer({ id: 'b' }))]],
  ['response-id', [user, asked(call()), told(answer({ id: 'b' }))]],
  ['id-not-echoed', [user, asked(call({ id: 'a' })), told(answer())]],
  ['duplicate-id', [user, asked(call({ id: 'a' }), call({ id: 'a' })), told(answer(), answer())]],
  [
    'id-for-old-model',
    {
      model: 'publishers/google/models/gemini-2.5-flash',
      contents: [user, asked(call({ id: 'a' })), told(answer({ id: 'a' }))],
    },
  ],
  ['missing-signature', { model: 'gemini-3-pro', contents: [user, asked(call()), told(answer())] }],
  ['no-contents', { contents: [] }],
  ['part-side', [user, told(call())]],
  ['part-side', [user, asked(answer())]],
  ['part-side', [user, told({ executableCode: { code: '1' } })]],
  ['unknown-role', [turn('assistant', { text: 'a' })]],
  ['invented-id', [user, asked(call({ id: 'bob_0123456789012345678901' })), told(answer())]],
  ['invented-id', [user, asked(call({ id: '' })), told(answer({ id: null }))]],
  ['response-name', [user, asked(call()), told(answer({ name: '' }))]],
  ['function-name', [user, asked(call({ name: '1 f' })), told(answer({ name: '1 f' }))]],
  ['struct', [user, asked(call({ args: '{}' })), told(answer())]],
  ['struct', [user, asked(call()), told(answer({ response: 'ok' }))]],
  ['piece-of-call', [user, asked(call({ willContinue: true })), told(answer())]],
  ['stray-tool-response', [user, asked({ toolResponse: { id: 'a', response: {} } }), user]],
  ['stray-code-result', [user, asked({ codeExecutionResult: { output: '1' } }), user]],
  ['empty-turn', [turn('user')]],
  [
    'empty-text',
    { model: 'publishers/google/models/gemini-3-pro', contents: [turn('user', { text: '' })] },
  ],
]

describe('validateRequest of generateContent', () => {
  it.each(broken)('finds %s', (rule, payload) => {
    expect(rulesOf(payload)).toContain(rule)
  })

  it('has an example for every rule', () => {
    const shown = new Set(broken.map(([rule]) => rule))
    expect(GEMINI_RULES.map(({ rule }) => rule).filter((rule) => !shown.has(rule))).toEqual([])
  })

  it('names in each violation the place and the error it prevents', () => {
    expect(validateRequest([user, asked(call()), told(answer(), answer())])).toEqual([
      {
        rule: 'response-count',
        path: 'contents[1]',
        message: 'has 1 calls, and the next turn 2 responses',
        prevents:
          'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      },
    ])
  })

  it.each([
    ['text'],
    [[]],
    [null],
    [{ contents: 'text' }],
    [[user, asked(call({ id: 'a' })), told(answer({ id: 'a' }))]],
    [[user, asked(call()), turn('function', answer())]],
    [[user, asked({ text: '', thoughtSignature: 'c2ln' }), user]],
    [[user, asked({ toolCall: { toolType: 'T' } }, { toolResponse: { toolType: 'T' } }), user]],
    [{ model: 'gemini-2.5-pro', contents: [user, asked(call()), told(answer())] }],
  ])('has nothing against %j', (payload) => {
    expect(rulesOf(payload)).toEqual([])
  })
})
