import { describe, expect, it } from 'vitest'
import { validateRequest } from './validate.ts'

const user = (...content: readonly object[]) => ({ role: 'user', content })
const assistant = (...content: readonly object[]) => ({ role: 'assistant', content })
const text = { text: 'Go.' }
const use = (toolUseId: unknown = 't1', more: object = {}) => ({
  toolUse: { toolUseId, name: 'pay', input: {}, ...more },
})
const result = (toolUseId: unknown = 't1', more: object = {}) => ({
  toolResult: { toolUseId, content: [{ text: 'ok' }], ...more },
})
const document = (name: string) => ({
  document: { format: 'pdf', name, source: { bytes: 'AAAA' } },
})

describe('validateRequest', () => {
  it.each<[string, string, unknown]>([
    ['role', 'messages.0.role', [{ role: 'tool', content: [text] }]],
    ['first-role', 'messages.0', [assistant(text)]],
    ['alternation', 'messages.1', [user(text), user(text)]],
    ['missing-result', 'messages.1.content.0', [user(text), assistant(use())]],
    ['missing-result', 'messages.1.content.0', [user(text), assistant(use()), user(text)]],
    ['stray-result', 'messages.0.content.0', [user(result())]],
    [
      'duplicate-result',
      'messages.2.content.1',
      [user(text), assistant(use()), user(result(), result())],
    ],
    [
      'duplicate-id',
      'messages.3.content.0.toolUse.toolUseId',
      [user(text), assistant(use()), user(result()), assistant(use()), user(result())],
    ],
    [
      'id-pattern',
      'messages.1.content.0.toolUse.toolUseId',
      [user(text), assistant(use('a|b')), user(result('a|b'))],
    ],
    [
      'id-pattern',
      'messages.1.content.0.toolUse.toolUseId',
      [user(text), assistant(use('x'.repeat(65))), user(result('x'.repeat(65)))],
    ],
    [
      'name-pattern',
      'messages.1.content.0.toolUse.name',
      [user(text), assistant(use('t1', { name: 'a.b' })), user(result())],
    ],
    [
      'input-object',
      'messages.1.content.0.toolUse.input',
      [user(text), assistant(use('t1', { input: '{}' })), user(result())],
    ],
    ['side', 'messages.0.content.1', [user(text, { reasoningContent: {} })]],
    ['side', 'messages.1.content.0', [user(text), assistant({ image: {} })]],
    ['blank-text', 'messages.0.content.0.text', [user({ text: ' ' })]],
    ['blank-text', 'system.0.text', { system: [{ text: '' }], messages: [user(text)] }],
    [
      'blank-text',
      'messages.2.content.0.toolResult.content.0.text',
      [user(text), assistant(use()), user(result('t1', { content: [{ text: '' }] }))],
    ],
    ['empty-message', 'messages.0.content', [user()]],
    [
      'empty-error',
      'messages.2.content.0.toolResult.content',
      [user(text), assistant(use()), user(result('t1', { content: [], status: 'error' }))],
    ],
    ['document-name', 'messages.0.content.1.document.name', [user(text, document('a.pdf'))]],
    ['document-name', 'messages.0.content.1.document.name', [user(text, document('a  b'))]],
    ['document-text', 'messages.0.content', [user(document('a'))]],
    [
      'tool-config',
      'toolConfig',
      { modelId: 'm', messages: [user(text), assistant(use()), user(result())] },
    ],
  ])('finds %s at %s', (rule, path, payload) => {
    expect(validateRequest(payload)).toContainEqual(
      expect.objectContaining({ rule, path, prevents: expect.stringMatching(/./) }),
    )
  })

  it.each<[string, unknown]>([
    [
      'ids of the newer charset',
      [user(text), assistant(use('call.1:a')), user(result('call.1:a'))],
    ],
    [
      'a result without content',
      [user(text), assistant(use()), user(result('t1', { content: [] }))],
    ],
    [
      'a tool that the provider ran',
      [
        user(text),
        assistant(use('s1', { type: 'server_tool_use' }), result('s1', { type: 'search_result' })),
        user(text),
      ],
    ],
    [
      'a system message between the others',
      [user(text), { role: 'system', content: [text] }, user(text)],
    ],
    ['blocks of a later version', [user(text, { hologram: {} })]],
  ])('has nothing against %s', (_, payload) => {
    expect(validateRequest(payload)).toEqual([])
  })
})
